/**
 * Four processes on one database work under load while they are killed, stopped past their lease and cut off, and while
 * the database is restarted. At the end the records are compared with what was seen from outside.
 */

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createApp } from '../../../src/app.ts'
import { isTerminal } from '../../../src/domain/dispatch.ts'
import { startProviderServer } from '../../../src/testing/provider-server.ts'
import { journalOf } from '../../support/open-app.ts'
import { openPostgres, removeWithProcess } from '../../support/postgres.ts'
import { CommandEvidence } from './command-evidence.ts'
import { DatabaseWay } from './database-way.ts'
import { RandomFaults } from './faults.ts'
import { SharedProcess } from './shared-process.ts'
import { Takeovers } from './takeovers.ts'
import { configOf, scriptOf, TaskLoad } from './task-load.ts'
import { type Finding, judge } from './verdict.ts'
import { installWitness, queryRows } from './witness.ts'

interface WorkersOptions {
  readonly faultsMs: number
  readonly seed: number
  readonly leaseMs: number
  /** Between two tasks. */
  readonly pauseMs: number
  /** Flags of Node for the processes, such as one that takes a guard out. */
  readonly flags?: readonly string[]
}

interface WorkersResult {
  readonly findings: readonly Finding[]
  readonly faults: ReadonlyMap<string, number>
}

const ROLES = ['all', 'all', 'worker', 'scheduler'] as const
const MOST_TASKS = 2000
const CALM_LIMIT_MS = 120_000

export async function drillWorkers(options: WorkersOptions): Promise<WorkersResult> {
  const { seed, leaseMs, faultsMs, pauseMs, flags = [] } = options
  await using ends = new AsyncDisposableStack()
  const after = (end: () => unknown): void => ends.defer(async () => void (await end()))
  const folder = mkdtempSync(join(tmpdir(), 'workers-'))
  after(removeWithProcess(folder))
  const server = await openPostgres({ after })
  const url = await server.newDatabase()
  const commands = new CommandEvidence(folder)
  after(() => commands.close())
  const provider = await startProviderServer({ script: scriptOf(commands, seed, MOST_TASKS, leaseMs) })
  after(() => provider.close())
  const configWith = (store: string): string => configOf(store, provider.url, leaseMs)

  const client = join(folder, 'client')
  const app = await createApp({ home: client, config: writeConfig(folder, configWith(url)) })
  after(() => app.close())
  await installWitness(url)
  const processes: SharedProcess[] = []
  for (const [i, role] of ROLES.entries()) {
    const way = await DatabaseWay.open(url)
    after(() => way.close())
    processes.push(new SharedProcess({ name: `p${i + 1}`, role, folder, way, flags, configWith }))
  }
  after(() => processes.map((process) => process.kill()))
  commands.onLook = (running) => {
    for (const { name, folder: at } of running)
      processes.find(({ home }) => at.startsWith(`${home}/`))?.noteCommand(name, leaseMs)
  }
  const takeovers = new Takeovers(url, processes)
  after(() => takeovers.close())

  for (const process of processes) process.start()
  await until(() => takeovers.isCalm, 'the processes did not start')
  const load = new TaskLoad(app, pauseMs, MOST_TASKS)
  const faults = new RandomFaults({ seed, leaseMs, processes, server, takeovers })
  await faults.run(faultsMs)
  await load.stop()
  await until(() => takeovers.isCalm, 'the processes did not recover')
  await until(() => haveAllEnded(url), 'some tasks did not end').catch(() => undefined)
  await takeovers.close()
  const endedAt = Date.now()
  const exits = await Promise.all(processes.map((process) => process.end()))
  const findings = await judge({
    ...{ url, endedAt, leaseMs, processes, takeovers, commands, requests: provider.requests },
    acknowledged: load.acknowledged,
    journalOf: (id) => journalOf(app, id),
  })
  return { findings: [...findings, judgeExits(exits)], faults: faults.counts }
}

function writeConfig(folder: string, text: string): string {
  const file = join(folder, 'client.yaml')
  writeFileSync(file, text)
  return file
}

const judgeExits = (exits: readonly (number | null)[]): Finding => ({
  what: 'SIGTERM ends every process with exit code 0',
  checked: exits.length,
  violations: exits.flatMap((exit, i) => (exit === 0 ? [] : [`p${i + 1} ended with ${exit}`])),
})

async function haveAllEnded(url: string): Promise<boolean> {
  const rows = await queryRows<{ status: Parameters<typeof isTerminal>[0] }>(
    url,
    "SELECT DISTINCT status FROM dispatches WHERE key LIKE 'task-%'",
  )
  return rows.every(({ status }) => isTerminal(status))
}

async function until(condition: () => boolean | Promise<boolean>, otherwise: string): Promise<void> {
  for (const end = performance.now() + CALM_LIMIT_MS; performance.now() < end; await setTimeout(100))
    if (await condition()) return
  throw new Error(`${otherwise} within ${CALM_LIMIT_MS / 1000} s`)
}
