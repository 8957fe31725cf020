/**
 * npm run drill -- failover [--kills 20] [--replication synchronous|asynchronous] [--workload store|sql]
 *
 * `--workload sql` leaves out the store: whether the cluster itself loses commits.
 * Drills take minutes and are not part of `npm test`. Exit code 1: something was lost or doubled.
 */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { drillFailover } from './failover.ts'
import { sqlWorkload } from './sql-workload.ts'
import { storeWorkload } from './store-workload.ts'
import type { Workload } from './workload.ts'

const USAGE =
  'usage: npm run drill -- failover [--kills N] [--replication synchronous|asynchronous] [--workload store|sql]'

const WORKLOADS: Readonly<Record<string, Workload>> = { store: storeWorkload, sql: sqlWorkload }

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kills: { type: 'string', default: '20' },
    replication: { type: 'string', default: 'synchronous' },
    workload: { type: 'string', default: 'store' },
  },
})

process.exitCode = await main()

async function main(): Promise<number> {
  const { kills, replication } = values
  const workload = WORKLOADS[values.workload]
  const isValid = replication === 'synchronous' || replication === 'asynchronous'
  if (positionals.join() !== 'failover' || !/^[1-9]\d*$/.test(kills) || !isValid || !workload) {
    console.error(USAGE)
    return 2
  }
  installPrograms(['patroni', 'etcd-server', 'postgresql'])
  const result = await drillFailover({ kills: Number(kills), replication, workload })
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
