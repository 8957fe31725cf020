/**
 * The HTTP suite: the latency of `enqueue` over HTTP while the kernel runs the tasks and resumes a session with a long
 * history, and the delay of its event loop. A plain server with one SQLite commit per task is measured in turn.
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { atMost, type Bar } from '../bars.ts'
import { machineNow } from '../machine.ts'
import { medianOf, runSubject } from '../measure.ts'
import { lower, quotient } from '../ratios.ts'
import { askProcess, nextMessage, startProcess, stopProcess } from '../server-process.ts'
import type { Scale, SuiteOptions, SuiteResults } from '../suite.ts'
import type { LoadOrder, ServerOrder, ServerReady, ServerRequest, ServerUse } from './protocol.ts'

interface Plan {
  readonly rounds: number
  readonly perSecond: number
  readonly seconds: number
  readonly resultSize: number
  readonly past: number
}

const PLANS: Readonly<Record<Scale, Plan>> = {
  full: { rounds: 5, perSecond: 20, seconds: 30, resultSize: 8000, past: 1000 },
  quick: { rounds: 2, perSecond: 20, seconds: 10, resultSize: 8000, past: 300 },
  smoke: { rounds: 1, perSecond: 20, seconds: 1, resultSize: 8000, past: 10 },
}

const SERVERS = { tireless: 'a running kernel', bare: 'only node:http and node:sqlite' } as const
export type ServerName = keyof typeof SERVERS
export const serverTitle = (name: ServerName): string => SERVERS[name]

/** Time limit until all tasks are done. */
const LONGEST_WORK_MS = 120_000
const LOOK_AGAIN_MS = 50

export interface HttpRow {
  readonly server: ServerName
  readonly requests: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  readonly loopP99Ms: number
  readonly loopMaxMs: number
  /** CPU time of the server process per task, including the work and the background session. */
  readonly cpuMsPerRequest: number
  readonly stepsBeside: number
}

export interface HttpResults extends SuiteResults {
  readonly suite: 'http'
  readonly perSecond: number
  readonly rows: readonly HttpRow[]
}

export interface HttpSuiteOptions extends SuiteOptions {
  /** Folder for a CPU profile of each kernel. */
  readonly profile?: string | undefined
}

export async function measureHttp({ scale, folder, say, profile }: HttpSuiteOptions): Promise<HttpResults> {
  const plan = PLANS[scale]
  const machine = machineNow()
  const rounds: Record<ServerName, Round[]> = { tireless: [], bare: [] }
  for (let round = 1; round <= plan.rounds; round++)
    for (const server of ['bare', 'tireless'] as const) {
      const load = `${plan.perSecond} tasks a second for ${plan.seconds} s`
      say(`round ${round} of ${plan.rounds}: ${serverTitle(server)}, ${load}`)
      const own = join(folder, `${server}-${round}`)
      mkdirSync(own)
      rounds[server].push(await measureServer(server, own, plan, server === 'tireless' ? profile : undefined))
    }
  const rows = [rowOf('tireless', rounds.tireless), rowOf('bare', rounds.bare)] as const
  const [ours, bare] = rows
  return {
    suite: 'http',
    scale,
    at: new Date().toISOString(),
    machine,
    perSecond: plan.perSecond,
    rows,
    bars: scale === 'smoke' ? [] : barsOf(ours),
    ratios: [
      lower('enqueue over HTTP against a bare server, median', quotient(ours.p50Ms, bare.p50Ms)),
      lower('enqueue over HTTP against a bare server, 99th percentile', quotient(ours.p99Ms, bare.p99Ms)),
    ],
  }
}

const barsOf = (ours: HttpRow): readonly Bar[] => [
  atMost('D5', 'enqueue over HTTP, 99th percentile', 50, ours.p99Ms, { unit: ' ms', digits: 1 }),
  atMost('D5', 'enqueue over HTTP, longest', 250, ours.maxMs, { unit: ' ms', digits: 1 }),
]

interface Round {
  readonly latencies: readonly number[]
  readonly use: ServerUse
}

async function measureServer(server: ServerName, folder: string, plan: Plan, profile?: string): Promise<Round> {
  const { perSecond, seconds, resultSize, past } = plan
  const order: ServerOrder = { folder, resultSize, past }
  const child = startProcess(`http/${server}.ts`, order, profile)
  try {
    const { url, token } = await nextMessage<ServerReady>(child, 'ready')
    child.send({ kind: 'reset' } satisfies ServerRequest)
    const load: LoadOrder = { url, token, perSecond, seconds }
    const loading = runSubject<number>('http/load.ts', load)
    // Half-way through the load, which includes the start of the load process.
    await Promise.race([pause((seconds * 1000) / 2), loading])
    child.send({ kind: 'wake' } satisfies ServerRequest)
    const latencies = await loading
    if (latencies.length !== perSecond * seconds)
      throw new Error(`${latencies.length} of ${perSecond * seconds} tasks were enqueued`)
    const use = await askProcess<ServerUse>(child, { kind: 'read' } satisfies ServerRequest, 'use')
    // The load process sends one unmeasured task first.
    if (server === 'tireless') await allDone(url, token, latencies.length + 1)
    if (server === 'tireless' && use.steps === 0) throw new Error('the background session did not continue')
    return { latencies, use }
  } finally {
    await stopProcess(child)
  }
}

/** The measurement is valid only if the kernel finishes all tasks. The background session never ends. */
async function allDone(url: string, token: string, tasks: number): Promise<void> {
  const until = performance.now() + LONGEST_WORK_MS
  for (;;) {
    const answer = await fetch(`${url}/api/v1/status`, { headers: { Authorization: `Bearer ${token}` } })
    const { queue } = (await answer.json()) as { queue: Readonly<Record<string, number>> }
    if (queue.done === tasks) return
    if ((queue.failed ?? 0) > 0 || (queue.dead ?? 0) > 0 || performance.now() > until)
      throw new Error(`${tasks} tasks were enqueued, and the queue is ${JSON.stringify(queue)}`)
    await pause(LOOK_AGAIN_MS)
  }
}

function rowOf(server: ServerName, rounds: readonly Round[]): HttpRow {
  const sorted = rounds.flatMap(({ latencies }) => latencies).toSorted((a, b) => a - b)
  const at = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
  const uses = rounds.map(({ use }) => use)
  return {
    server,
    requests: sorted.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
    loopP99Ms: medianOf(uses.map(({ loopP99Ms }) => loopP99Ms)),
    loopMaxMs: Math.max(...uses.map(({ loopMaxMs }) => loopMaxMs)),
    cpuMsPerRequest: uses.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / sorted.length,
    stepsBeside: uses.reduce((sum, { steps }) => sum + steps, 0),
  }
}
