/**
 * npm run drill -- failover [--kills 20] [--replication synchronous|asynchronous] [--workload store|sql]
 * npm run drill -- workers [--minutes 5] [--seed 1] [--lease 6] [--broken GUARD]
 * npm run drill -- stores [--lanes 2] [--long] [FILE or GLOB]...
 *
 * `--workload sql` leaves out the store: whether the cluster itself loses commits.
 * `--lease`: seconds; short, so that there are many takeovers. A busy machine needs more.
 * `--broken` takes a guard out of the program, to show that the drill notices.
 * `stores`: the tests that open homes, each home on PostgreSQL. `--lanes`: files at the same time. `--long`: those
 * that `npm test` leaves out.
 * Drills take minutes and are not part of `npm test`. Exit code 1: something was lost, doubled or wrong.
 */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { drillFailover } from './failover.ts'
import { sqlWorkload } from './sql-workload.ts'
import { storeWorkload } from './store-workload.ts'
import { runStoresDrill } from './stores/run-stores-drill.ts'
import { BROKEN_GUARDS, flagsWithout } from './workers/broken-guards.ts'
import { drillWorkers } from './workers/drill-workers.ts'
import type { Workload } from './workload.ts'

const USAGE = `usage:
  npm run drill -- failover [--kills N] [--replication synchronous|asynchronous] [--workload store|sql]
  npm run drill -- workers [--minutes N] [--seed N] [--lease S] [--broken ${Object.keys(BROKEN_GUARDS).join('|')}]
  npm run drill -- stores [--lanes N] [--long] [FILE or GLOB]...`

const WORKLOADS: Readonly<Record<string, Workload>> = { store: storeWorkload, sql: sqlWorkload }
const DRILLS: Readonly<Record<string, () => Promise<number>>> = { failover, workers, stores }
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kills: { type: 'string', default: '20' },
    replication: { type: 'string', default: 'synchronous' },
    workload: { type: 'string', default: 'store' },
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    lease: { type: 'string', default: '6' },
    broken: { type: 'string' },
    lanes: { type: 'string', default: '2' },
    long: { type: 'boolean', default: false },
  },
})
const [name = '', ...files] = positionals

process.exitCode = (files.length === 0 || name === 'stores' ? await DRILLS[name]?.() : undefined) ?? wrongUse()

function wrongUse(): number {
  console.error(USAGE)
  return 2
}

async function failover(): Promise<number> {
  const { kills, replication } = values
  const workload = WORKLOADS[values.workload]
  const isValid = replication === 'synchronous' || replication === 'asynchronous'
  if (!/^[1-9]\d*$/.test(kills) || !isValid || !workload) return wrongUse()
  installPrograms(['patroni', 'etcd-server', 'postgresql'])
  const result = await drillFailover({ kills: Number(kills), replication, workload })
  const { acknowledged, killedWorkers, brokenWorkers, lost, doubled, incomplete } = result
  console.log(`\n${kills} kills of the primary, ${killedWorkers} of workers, ${acknowledged} acknowledged commits`)
  for (const [name, ids] of Object.entries({ lost, doubled, incomplete }))
    console.log(`${name.padEnd(10)}  ${ids.length}  ${ids.slice(0, 5).join(' ')}`)
  if (brokenWorkers > 0) console.log(`${brokenWorkers} workers ended by themselves; see their errors above`)
  return lost.length + doubled.length + incomplete.length + brokenWorkers === 0 ? 0 : 1
}

async function workers(): Promise<number> {
  const [minutes, seed, lease] = [Number(values.minutes), Number(values.seed), Number(values.lease)]
  const guard = values.broken === undefined ? undefined : BROKEN_GUARDS[values.broken]
  const isKnown = guard !== undefined || values.broken === undefined
  if (!(minutes > 0) || !(lease > 0) || !Number.isSafeInteger(seed) || !isKnown) return wrongUse()
  const flags = guard ? flagsWithout(guard) : []
  const times = { faultsMs: minutes * 60_000, leaseMs: lease * 1000, pauseMs: 1200 }
  const { findings, faults } = await drillWorkers({ ...times, seed, flags })
  for (const { what, checked, violations } of findings) {
    console.log(`${what.padEnd(46)}  ${String(checked).padEnd(32)}  ${violations.length} violations`)
    for (const violation of violations.slice(0, 5)) console.log(`    ${violation}`)
  }
  const counts = [...faults].map(([kind, count]) => `${count} ${kind}`).join(', ')
  const total = findings.reduce((sum, { violations }) => sum + violations.length, 0)
  console.log(`\nseed ${seed}, ${minutes} minutes, leases of ${lease} s: ${counts}; ${total} violations`)
  return total === 0 ? 0 : 1
}

async function stores(): Promise<number> {
  return /^[1-9]\d*$/.test(values.lanes) ? runStoresDrill(files, Number(values.lanes), values.long) : wrongUse()
}

function installPrograms(names: readonly string[]): void {
  const script = join(import.meta.dirname, '../../scripts/setup.mjs')
  spawnSync(process.execPath, [script, ...names.flatMap((name) => ['--system', name])], { stdio: 'inherit' })
}
