/**
 * The residents suite: many residents in one home. While nothing is new they must cost next to nothing: no commit, no
 * model call, hardly any CPU time. With news each must look in time. A home with few busy residents is the measure.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type App, createApp, type Model } from 'tireless'
import { atMost, type Bar } from '../bars.ts'
import { machineNow } from '../machine.ts'
import { lower, quotient } from '../ratios.ts'
import { barsTable, headOf, table } from '../report.ts'
import type { Scale, SuiteOptions, SuiteResults } from '../suite.ts'

interface IdleRow {
  readonly residents: number
  readonly hz: number
  readonly seconds: number
  /** Share of one core, in percent. */
  readonly cpuPercent: number
  readonly commits: number
  readonly calls: number
}

interface BusyRow {
  readonly residents: number
  readonly hz: number
  readonly events: number
  readonly looksPerSecond: number
  /** Includes what publishing the events costs. */
  readonly cpuMsPerLook: number
  readonly commitsPerLook: number
  /** From the call of `publish` until the model is asked. */
  readonly delayMs: { readonly p50: number; readonly p99: number }
}

interface ResidentsResults extends SuiteResults {
  readonly suite: 'residents'
  readonly idle: readonly IdleRow[]
  readonly busy: readonly BusyRow[]
}

interface Case {
  readonly residents: number
  readonly hz: number
}

interface Plan {
  readonly idle: readonly Case[]
  readonly busy: readonly Case[]
  /** After the start and after the events, until time is measured: memory is tidied up meanwhile. */
  readonly settleMs: number
  readonly ms: number
}

const IDLE: readonly Case[] = [
  { residents: 100, hz: 3 },
  { residents: 1000, hz: 1 },
]
const BUSY: readonly Case[] = [
  { residents: 10, hz: 3 },
  { residents: 100, hz: 3 },
]

const PLANS: Readonly<Record<Scale, Plan>> = {
  full: { idle: IDLE, busy: BUSY, settleMs: 10_000, ms: 20_000 },
  quick: { idle: IDLE, busy: BUSY, settleMs: 5000, ms: 5000 },
  smoke: { idle: [{ residents: 20, hz: 3 }], busy: [{ residents: 5, hz: 3 }], settleMs: 300, ms: 700 },
}

export async function measureResidents({ scale, folder, say }: SuiteOptions): Promise<ResidentsResults> {
  const machine = machineNow()
  const plan = PLANS[scale]
  const idle: IdleRow[] = []
  const busy: BusyRow[] = []
  for (const one of plan.idle) {
    say(`${one.residents} idle residents at ${one.hz} Hz …`)
    idle.push(await inHome(join(folder, `idle-${one.residents}`), one, (home) => measureIdle(home, one, plan)))
  }
  for (const one of plan.busy) {
    say(`${one.residents} residents at ${one.hz} Hz, an event a second for each …`)
    busy.push(await inHome(join(folder, `busy-${one.residents}`), one, (home) => measureBusy(home, one, plan)))
  }
  const [few, many] = busy
  const ratios = [
    lower('CPU of a look, many busy residents against few', quotient(many?.cpuMsPerLook, few?.cpuMsPerLook)),
    lower('commits of a look, many busy residents', many?.commitsPerLook ?? few?.commitsPerLook),
  ]
  const bars = [...countingBars(idle), ...(scale === 'smoke' ? [] : timeBars(idle, many))]
  return { suite: 'residents', scale, at: new Date().toISOString(), machine, idle, busy, bars, ratios }
}

const COUNT = { unit: '', digits: 0 }
const PERCENT = { unit: ' %', digits: 2 }

const countingBars = (rows: readonly IdleRow[]): readonly Bar[] => [
  atMost('K6', 'commits while nothing is new', 0, sum(rows.map(({ commits }) => commits)), COUNT),
  atMost('K6', 'model calls while nothing is new', 0, sum(rows.map(({ calls }) => calls)), COUNT),
]

function timeBars([some, most]: readonly IdleRow[], busy: BusyRow | undefined): readonly Bar[] {
  const interval = 1000 / (busy?.hz ?? 1)
  return [
    atMost('K6', 'CPU of 100 idle residents at 3 Hz, share of a core', 2, some?.cpuPercent, PERCENT),
    atMost('K6', 'CPU of 1,000 idle residents at 1 Hz, share of a core', 10, most?.cpuPercent, PERCENT),
    atMost('K4', 'from an event to its look, 99 of 100', Math.round(interval + 100), busy?.delayMs.p99, {
      ...{ unit: ' ms', digits: 0 },
    }),
  ]
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

const USAGE = { input_tokens: 900, output_tokens: 40, cached_tokens: 0 }
const EVENT = /"event":(\d+)/g

/** Sees the events and does nothing. */
class IdleModel implements Model {
  readonly id = 'bench/residents'
  calls = 0
  /** When each event was first shown. */
  readonly seenAt = new Map<number, number>()

  async call({ messages }: Parameters<Model['call']>[0]) {
    this.calls += 1
    const now = performance.now()
    const last = messages.at(-1)
    for (const [, event] of (last?.role === 'user' ? last.text : '').matchAll(EVENT))
      if (!this.seenAt.has(Number(event))) this.seenAt.set(Number(event), now)
    return { text: '{"action": {"type": "noop", "payload": ""}}', calls: [], finish: 'stop' as const, usage: USAGE }
  }
}

interface Home {
  readonly app: App
  readonly model: IdleModel
}

async function inHome<T>(home: string, { residents, hz }: Case, measure: (home: Home) => Promise<T>): Promise<T> {
  mkdirSync(home, { recursive: true })
  const config = {
    server: { port: 0 },
    // The only beat is far away.
    kernel: { schedule: '0 4 29 2 *', missed: 'skip', agents: [] },
    residents: Array.from({ length: residents }, (_, n) => ({ agent_id: nameOf(n), hz })),
  }
  writeFileSync(join(home, 'tireless.yaml'), JSON.stringify(config))
  const model = new IdleModel()
  const stop = new AbortController()
  const app = await createApp({ home, model, signals: { drain: stop.signal, abort: stop.signal } })
  try {
    const running = app.run('start', {})
    running.catch(() => {})
    const measured = await measure({ app, model })
    stop.abort()
    await running
    return measured
  } finally {
    await app.close()
  }
}

const nameOf = (n: number): string => `resident-${n}`

async function measureIdle({ app, model }: Home, { residents, hz }: Case, { settleMs, ms }: Plan): Promise<IdleRow> {
  await pause(settleMs)
  const [commits, cpu, began] = [app.context.store.commits(), process.cpuUsage(), performance.now()]
  await pause(ms)
  const { user, system } = process.cpuUsage(cpu)
  const elapsed = performance.now() - began
  const [idleCommits, calls] = [app.context.store.commits() - commits, model.calls]
  // They were idle, not dead.
  await publishAll(app, residents, 0, 1)
  await allSeen(model, 1)
  return {
    ...{ residents, hz, seconds: elapsed / 1000, cpuPercent: (100 * (user + system)) / 1000 / elapsed },
    ...{ commits: idleCommits, calls },
  }
}

async function measureBusy({ app, model }: Home, { residents, hz }: Case, { settleMs, ms }: Plan): Promise<BusyRow> {
  // The first looks of all residents are not measured: they open the sessions.
  const warmUp = residents
  await publishAll(app, residents, 0, warmUp)
  await allSeen(model, warmUp)
  await pause(settleMs)
  const events = Math.round((residents * ms) / 1000)
  const [calls, commits, cpu, began] = [model.calls, app.context.store.commits(), process.cpuUsage(), performance.now()]
  const sentAt = await publishAll(app, residents, warmUp, events)
  await allSeen(model, warmUp + events)
  const { user, system } = process.cpuUsage(cpu)
  const looks = model.calls - calls
  const delays = [...sentAt].map(([event, at]) => (model.seenAt.get(event) ?? Number.NaN) - at)
  return {
    ...{ residents, hz, events, looksPerSecond: (1000 * looks) / (performance.now() - began) },
    cpuMsPerLook: (user + system) / 1000 / looks,
    commitsPerLook: (app.context.store.commits() - commits) / looks,
    delayMs: { p50: quantile(delays, 0.5), p99: quantile(delays, 0.99) },
  }
}

/** Publishes an event a second for each resident, evenly spread. Contract: when each was published. */
async function publishAll(app: App, residents: number, from: number, count: number): Promise<Map<number, number>> {
  const bus = app.service('bus')
  const sentAt = new Map<number, number>()
  const began = performance.now()
  const publishing: Promise<unknown>[] = []
  for (let sent = 0; sent < count; sent += 1) {
    const wait = began + (1000 * sent) / residents - performance.now()
    if (wait > 0) await pause(wait)
    const event = from + sent
    sentAt.set(event, performance.now())
    const observation = { type: 'system_event', name: 'sound', payload: { event } } as const
    publishing.push(bus.publish({ agents: [nameOf(event % residents)], id: `event-${event}`, observation }))
  }
  await Promise.all(publishing)
  return sentAt
}

/** Waits until a model was shown so many events. */
async function allSeen({ seenAt }: IdleModel, events: number): Promise<void> {
  for (let tries = 0; tries < 6000 && seenAt.size < events; tries += 1) await pause(10)
  if (seenAt.size !== events) throw new Error(`${seenAt.size} of ${events} events were seen`)
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function residentsReport(results: ResidentsResults): string {
  const idle = results.idle.map((row) => [
    ...[String(row.residents), `${row.hz} Hz`, `${row.seconds.toFixed(0)} s`, `${row.cpuPercent.toFixed(2)} %`],
    ...[String(row.commits), String(row.calls)],
  ])
  const busy = results.busy.map((row) => [
    ...[String(row.residents), `${row.hz} Hz`, String(row.events), row.looksPerSecond.toFixed(1)],
    ...[`${row.cpuMsPerLook.toFixed(1)} ms`, row.commitsPerLook.toFixed(2)],
    ...[`${row.delayMs.p50.toFixed(0)} ms`, `${row.delayMs.p99.toFixed(0)} ms`],
  ])
  const busyHead = [
    'busy',
    'rate',
    'events',
    'looks a second',
    'CPU a look',
    'commits a look',
    'delay, median',
    '99 of 100',
  ]
  return [
    ...[...headOf(results), ''],
    ...[table(['idle', 'rate', 'for', 'CPU of a core', 'commits', 'model calls'], idle), ''],
    ...[table(busyHead, busy), ''],
    barsTable(results),
  ].join('\n')
}
