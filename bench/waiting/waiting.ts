/**
 * The waiting suite: many parked sessions in one home, and an event for one of them after the other. An event must run
 * its own session once; the others must cost nothing. A home with few waiting sessions is the measure.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { type App, createApp, type Model } from 'tireless'
import { atMost, type Bar } from '../bars.ts'
import { machineNow } from '../machine.ts'
import { lower, quotient } from '../ratios.ts'
import { barsTable, headOf, table } from '../report.ts'
import type { Scale, SuiteOptions, SuiteResults } from '../suite.ts'

interface WaitingRow {
  readonly waiting: number
  readonly events: number
  /** From the call of `send` until the model is asked. */
  readonly wakeMs: { readonly p50: number; readonly p99: number }
  /** Steps beyond one for each event, in its own session. */
  readonly strays: number
  /** Sessions with new records, although no event was for them. */
  readonly disturbed: number
  readonly commitsPerEvent: number
  readonly cpuMsPerEvent: number
  /** While no event comes. */
  readonly idleCommits: number
  readonly idleCpuMsPerSecond: number
}

interface WaitingResults extends SuiteResults {
  readonly suite: 'waiting'
  readonly rows: readonly WaitingRow[]
}

interface Plan {
  /** Few enough to compare with, and so many that none gets more than five events: a run of mere waits ends. */
  readonly few: number
  readonly many: number
  readonly events: number
  /** After the last event, until idle time is measured: memory is tidied up meanwhile. */
  readonly settleMs: number
  readonly idleMs: number
}

const PLANS: Readonly<Record<Scale, Plan>> = {
  full: { few: 100, many: 1000, events: 500, settleMs: 15_000, idleMs: 20_000 },
  quick: { few: 20, many: 1000, events: 100, settleMs: 8000, idleMs: 5000 },
  smoke: { few: 1, many: 20, events: 5, settleMs: 0, idleMs: 300 },
}

export async function measureWaiting({ scale, folder, say }: SuiteOptions): Promise<WaitingResults> {
  const machine = machineNow()
  const plan = PLANS[scale]
  const rows: WaitingRow[] = []
  for (const waiting of [plan.few, plan.many]) {
    say(`${waiting} waiting sessions, ${plan.events} events …`)
    rows.push(await measureHome(join(folder, `home-${waiting}`), waiting, plan))
  }
  const [few, many] = rows
  const ratios = [
    lower('CPU of an event, many waiting sessions against few', quotient(many?.cpuMsPerEvent, few?.cpuMsPerEvent)),
    lower(
      'commits of an event, many waiting sessions against few',
      quotient(many?.commitsPerEvent, few?.commitsPerEvent),
    ),
  ]
  const bars = [...countingBars(many), ...(scale === 'smoke' ? [] : timeBars(few, many, ratios[0]?.value))]
  return { suite: 'waiting', scale, at: new Date().toISOString(), machine, rows, bars, ratios }
}

const COUNT = { unit: '', digits: 0 }
const MS = { unit: ' ms', digits: 1 }

function countingBars(many: WaitingRow | undefined): readonly Bar[] {
  return [
    atMost('O12', 'steps that no event asked for', 0, many?.strays, COUNT),
    atMost('O12', 'sessions disturbed by an event for another one', 0, many?.disturbed, COUNT),
    atMost('I8', 'commits while all sessions wait', 0, many?.idleCommits, COUNT),
  ]
}

function timeBars(
  few: WaitingRow | undefined,
  many: WaitingRow | undefined,
  cpu: number | null | undefined,
): readonly Bar[] {
  const idle = few && many && many.idleCpuMsPerSecond - few.idleCpuMsPerSecond
  return [
    atMost('O12', 'from an event to its model, median', 25, many?.wakeMs.p50, MS),
    atMost('O12', 'from an event to its model, 99 of 100', 100, many?.wakeMs.p99, MS),
    atMost('O12', 'CPU of an event, many waiting sessions against few', 1.5, cpu, { unit: '×', digits: 2 }),
    atMost('I8', 'CPU a second while all sessions wait, beyond that of few', 5, idle, MS),
  ]
}

const USAGE = { input_tokens: 900, output_tokens: 40, cached_tokens: 0 }

/** Always waits for the next message. `asked`: which session it was asked for, and when. */
class WaitingModel implements Model {
  readonly id = 'bench/waiting'
  readonly asked: { readonly session: number; readonly at: number }[] = []

  async call({ messages }: Parameters<Model['call']>[0]) {
    const first = messages.find(({ role }) => role === 'user')
    const session = Number(/session (\d+)/.exec(first?.role === 'user' ? first.text : '')?.[1])
    this.asked.push({ session, at: performance.now() })
    const call = { id: `call-${this.asked.length}`, tool: 'wait', args: JSON.stringify({ for: 'user_message' }) }
    return { text: '', calls: [call], finish: 'calls' as const, usage: USAGE }
  }
}

async function measureHome(home: string, waiting: number, { events, settleMs, idleMs }: Plan): Promise<WaitingRow> {
  mkdirSync(home, { recursive: true })
  // The only beat is far away.
  writeFileSync(
    join(home, 'tireless.yaml'),
    'server: { port: 0 }\nkernel:\n  schedule: "0 4 29 2 *"\n  missed: skip\n  agents: []\n',
  )
  const model = new WaitingModel()
  const stop = new AbortController()
  const app = await createApp({ home, model, signals: { drain: stop.signal, abort: stop.signal } })
  const db = new DatabaseSync(join(home, 'tireless.db'), { readOnly: true })
  try {
    const sessions = await park(app, waiting)
    const running = app.run('start', {})
    const measured = await measureEvents({ app, db, model, sessions, events })
    await pause(settleMs)
    const idle = await measureIdle(app, idleMs)
    stop.abort()
    await running
    return { waiting, events, ...measured, ...idle }
  } finally {
    db.close()
    await app.close()
  }
}

/** Contract: ids of that many sessions, all parked. */
async function park(app: App, waiting: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (let n = 0; n < waiting; n += 1) {
    const input = { prompt: `session ${n}`, behaviour: 'solo', workspace: join('ws', String(n % 8)) }
    ids.push((await app.run('enqueue', input)).session_id)
  }
  await app.run('start', { until_idle: true })
  const { waiting: parked } = await app.context.store.counts()
  if (parked !== waiting) throw new Error(`${parked} of ${waiting} sessions wait`)
  return ids
}

interface Measuring {
  readonly app: App
  readonly db: DatabaseSync
  readonly model: WaitingModel
  readonly sessions: readonly string[]
  readonly events: number
}

type Measured = Omit<WaitingRow, 'waiting' | 'events' | 'idleCommits' | 'idleCpuMsPerSecond'>

async function measureEvents({ app, db, model, sessions, events }: Measuring): Promise<Measured> {
  await pause(500)
  const [heads, commits, cpu] = [headsIn(db), app.context.store.commits(), process.cpuUsage()]
  const from = model.asked.length
  const wakes: number[] = []
  let strays = 0
  for (let event = 0; event < events; event += 1) {
    // A step that is prime to every number of sessions: the events go all over the home.
    const target = (event * 389) % sessions.length
    const before = model.asked.length
    const sent = performance.now()
    await app.run('send', { session: sessions[target] ?? '', text: `event ${event}` })
    await allWait(app, sessions.length)
    const asked = model.asked.slice(before)
    const own = asked.find(({ session }) => session === target)
    if (!own) throw new Error(`event ${event} did not wake session ${target}`)
    wakes.push(own.at - sent)
    strays += asked.length - 1
  }
  const { user, system } = process.cpuUsage(cpu)
  const touched = new Set(Array.from({ length: events }, (_, event) => sessions[(event * 389) % sessions.length]))
  const now = headsIn(db)
  const disturbed = sessions.filter((id) => !touched.has(id) && now.get(id) !== heads.get(id)).length
  return {
    wakeMs: { p50: quantile(wakes, 0.5), p99: quantile(wakes, 0.99) },
    // Also steps that came later than their event.
    strays: Math.max(strays, model.asked.length - from - events),
    disturbed,
    commitsPerEvent: (app.context.store.commits() - commits) / events,
    cpuMsPerEvent: (user + system) / 1000 / events,
  }
}

/** Waits until every session is parked again. */
async function allWait({ context }: App, waiting: number): Promise<void> {
  for (let tries = 0; tries < 5000; tries += 1) {
    if ((await context.store.counts()).waiting === waiting) return
    await pause(2)
  }
  throw new Error('a session did not park again')
}

async function measureIdle(app: App, ms: number): Promise<Pick<WaitingRow, 'idleCommits' | 'idleCpuMsPerSecond'>> {
  const [commits, cpu] = [app.context.store.commits(), process.cpuUsage()]
  await pause(ms)
  const { user, system } = process.cpuUsage(cpu)
  return { idleCommits: app.context.store.commits() - commits, idleCpuMsPerSecond: (user + system) / ms }
}

const headsIn = (db: DatabaseSync): ReadonlyMap<string, number> =>
  new Map(
    db
      .prepare('SELECT session_id, head FROM sessions')
      .all()
      .map((row) => [String(row.session_id), Number(row.head)]),
  )

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function waitingReport(results: WaitingResults): string {
  const head = ['waiting', 'event to model, median', '99 of 100', 'commits', 'CPU', 'idle commits', 'idle CPU a second']
  const rows = results.rows.map((row) => [
    String(row.waiting),
    `${row.wakeMs.p50.toFixed(1)} ms`,
    `${row.wakeMs.p99.toFixed(1)} ms`,
    row.commitsPerEvent.toFixed(2),
    `${row.cpuMsPerEvent.toFixed(1)} ms`,
    String(row.idleCommits),
    `${row.idleCpuMsPerSecond.toFixed(1)} ms`,
  ])
  return [...headOf(results), '', table(head, rows), '', barsTable(results)].join('\n')
}
