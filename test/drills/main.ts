/**
 * npm run drill -- failover [--kills 20] [--replication synchronous|asynchronous]
 *
 * Drills take minutes and are not part of `npm test`. Exit code 1: something was lost or doubled.
 */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { drillFailover } from './failover.ts'
import { sqlWorkload } from './sql-workload.ts'

const USAGE = 'usage: npm run drill -- failover [--kills N] [--replication synchronous|asynchronous]'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { kills: { type: 'string', default: '20' }, replication: { type: 'string', default: 'synchronous' } },
})

process.exitCode = await main()

async function main(): Promise<number> {
  const { kills, replication } = values
  const isValid = replication === 'synchronous' || replication === 'asynchronous'
  if (positionals.join() !== 'failover' || !/^[1-9]\d*$/.test(kills) || !isValid) {
    console.error(USAGE)
    return 2
  }
  installPrograms(['patroni', 'etcd-server', 'postgresql'])
  const result = await drillFailover({ kills: Number(kills), replication, workload: sqlWorkload })
  const { acknowledged, killedWorkers, brokenWorkers, lost, doubled, incomplete } = result
  console.log(`\n${kills} kills of the primary, ${killedWorkers} of workers, ${acknowledged} acknowledged commits`)
  for (const [name, ids] of Object.entries({ lost, doubled, incomplete }))
    console.log(`${name.padEnd(10)}  ${ids.length}  ${ids.slice(0, 5).join(' ')}`)
  if (brokenWorkers > 0) console.log(`${brokenWorkers} workers ended by themselves; see their errors above`)
  return lost.length + doubled.length + incomplete.length + brokenWorkers === 0 ? 0 : 1
}

function installPrograms(names: readonly string[]): void {
  const script = join(import.meta.dirname, '../../scripts/setup.mjs')
  spawnSync(process.execPath, [script, ...names.flatMap((name) => ['--system', name])], { stdio: 'inherit' })
}
