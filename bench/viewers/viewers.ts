/**
 * The viewers suite: what 20 viewers of live events cost. A kernel that works without a pause is measured with and
 * without viewers, in turn; so is one that publishes 10,000 events a second, whose viewers leave and continue: each
 * must get every event once.
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { atLeast, atMost, type Bar } from '../bars.ts'
import type { ServerReady, ServerRequest, ServerUse } from '../http/protocol.ts'
import { machineNow } from '../machine.ts'
import { medianOf } from '../measure.ts'
import { lower, quotient } from '../ratios.ts'
import { barsTable, headOf, table, whole } from '../report.ts'
import { askProcess, nextMessage, startProcess, stopProcess } from '../server-process.ts'
import type { Scale, SuiteOptions, SuiteResults } from '../suite.ts'
import type { KernelLoad, KernelOrder, Watched, Watching, WatchOrder, WatchRequest } from './protocol.ts'

interface Plan {
  readonly rounds: number
  readonly perSecond: number
  /** Until measuring starts, while code is compiled. */
  readonly warmUpMs: number
  readonly ms: number
  /** A viewer stays for at most so long, then leaves and continues. */
  readonly stayMs: number
}

const VIEWERS = 20
const PLANS: Readonly<Record<Scale, Plan>> = {
  full: { rounds: 7, perSecond: 10_000, warmUpMs: 5000, ms: 15_000, stayMs: 12_000 },
  quick: { rounds: 3, perSecond: 10_000, warmUpMs: 3000, ms: 5000, stayMs: 12_000 },
  smoke: { rounds: 1, perSecond: 1000, warmUpMs: 100, ms: 1500, stayMs: 1000 },
}

interface Round {
  readonly load: KernelLoad['kind']
  readonly viewers: number
  readonly seconds: number
  readonly steps: number
  readonly cpuMs: number
  readonly loopP99Ms: number
  readonly watched: Watched | undefined
}

interface ViewersResults extends SuiteResults {
  readonly suite: 'viewers'
  readonly rounds: readonly Round[]
}

export async function measureViewers({ scale, folder, say }: SuiteOptions): Promise<ViewersResults> {
  const plan = PLANS[scale]
  const machine = machineNow()
  const loads: readonly KernelLoad[] = [{ kind: 'work' }, { kind: 'publish', perSecond: plan.perSecond }]
  const rounds: Round[] = []
  for (let round = 1; round <= plan.rounds; round += 1)
    // Either comes first in every other round, so that neither always has the quieter machine.
    for (const load of loads)
      for (const viewers of round % 2 === 0 ? [VIEWERS, 0] : [0, VIEWERS]) {
        say(`round ${round} of ${plan.rounds}: ${titleOf(load.kind)}, ${viewers} viewers`)
        rounds.push(await measureRound(join(folder, `${load.kind}-${viewers}-${round}`), load, viewers, plan))
      }
  const ratios = [
    lower('time of a step, 20 viewers against none', againstNone(rounds, 'work', timeOf)),
    lower('CPU of a step, 20 viewers against none', againstNone(rounds, 'work', cpuOf)),
  ]
  const bars = [...countingBars(rounds), ...(scale === 'smoke' ? [] : timeBars(rounds, plan, ratios))]
  return { suite: 'viewers', scale, at: new Date().toISOString(), machine, rounds, bars, ratios }
}

const TITLES = { work: 'sessions at work', publish: 'events of recorded runs' } as const
const titleOf = (kind: KernelLoad['kind']): string => TITLES[kind]

const timeOf = ({ seconds, steps }: Round): number => seconds / steps
const cpuOf = ({ cpuMs, steps }: Round): number => cpuMs / steps
const cpuShareOf = ({ cpuMs, seconds }: Round): number => cpuMs / 1000 / seconds

const roundsOf = (rounds: readonly Round[], load: Round['load'], viewers: number): readonly Round[] =>
  rounds.filter((round) => round.load === load && round.viewers === viewers)

/** Contract: the median of the ratios of the rounds; two of one round follow each other, on the same machine. */
function againstNone(rounds: readonly Round[], load: Round['load'], measureOf: (round: Round) => number): number {
  const alone = roundsOf(rounds, load, 0).map(measureOf)
  const watched = roundsOf(rounds, load, VIEWERS).map(measureOf)
  return medianOf(watched.map((value, i) => quotient(value, alone[i]) ?? Number.NaN))
}

const COUNT = { unit: '', digits: 0 }
const PERCENT = { unit: ' %', digits: 1 }

function countingBars(rounds: readonly Round[]): readonly Bar[] {
  const watched = rounds.flatMap((round) => round.watched ?? [])
  const sum = (key: 'missing' | 'repeated' | 'resets'): number => watched.reduce((all, each) => all + each[key], 0)
  return [
    atMost('P6', 'events that a viewer missed', 0, sum('missing'), COUNT),
    atMost('P6', 'events that a viewer got twice', 0, sum('repeated'), COUNT),
    atMost('P6', 'viewers that had to fetch everything anew', 0, sum('resets'), COUNT),
  ]
}

function timeBars(rounds: readonly Round[], { perSecond }: Plan, ratios: SuiteResults['ratios']): readonly Bar[] {
  const [time, cpu] = ratios.map(({ value }) => (value === null ? null : 100 * (value - 1)))
  const publishing = roundsOf(rounds, 'publish', VIEWERS)
  const alone = roundsOf(rounds, 'publish', 0)
  const shares = publishing.map((round, i) => cpuShareOf(round) - cpuShareOf(alone[i] ?? round))
  const received = publishing.map(({ watched }) => watched?.eventsPerSecond ?? Number.NaN)
  return [
    atMost('P6', 'kernel at work, slowed by 20 viewers', 5, time, PERCENT),
    atMost('P6', 'kernel at work, CPU for 20 viewers', 5, cpu, PERCENT),
    atMost('P6', 'CPU for 20 viewers of 10,000 events a second, share of a core', 5, 100 * medianOf(shares), PERCENT),
    // A viewer that is away gets what it missed when it is back, so a little less arrives until the end.
    atLeast('P6', 'events that each viewer received a second', 0.95 * perSecond, medianOf(received), COUNT),
  ]
}

async function measureRound(folder: string, load: KernelLoad, viewers: number, plan: Plan): Promise<Round> {
  mkdirSync(folder)
  const kernel = startProcess('viewers/kernel.ts', { folder, load } satisfies KernelOrder)
  try {
    const { url, token } = await nextMessage<ServerReady>(kernel, 'ready')
    const order: WatchOrder = { url, token, viewers, stayMs: plan.stayMs }
    const watchers = viewers === 0 ? undefined : startProcess('viewers/watch.ts', order)
    try {
      if (watchers) await nextMessage<Watching>(watchers, 'watching')
      await pause(plan.warmUpMs)
      kernel.send({ kind: 'reset' } satisfies ServerRequest)
      const began = performance.now()
      await pause(plan.ms)
      const { steps, cpuMs, loopP99Ms } = await askProcess<ServerUse>(
        kernel,
        { kind: 'read' } satisfies ServerRequest,
        'use',
      )
      const seconds = (performance.now() - began) / 1000
      const stop: WatchRequest = { kind: 'stop' }
      const watched = watchers && (await askProcess<Watched>(watchers, stop, 'watched'))
      if (steps === 0) throw new Error('the kernel did no work')
      return { load: load.kind, viewers, seconds, steps, cpuMs, loopP99Ms, watched }
    } finally {
      if (watchers) await stopProcess(watchers)
    }
  } finally {
    await stopProcess(kernel)
  }
}

export function viewersReport(results: ViewersResults): string {
  const groups = (['work', 'publish'] as const).flatMap((load) => [0, VIEWERS].map((viewers) => ({ load, viewers })))
  const rows = groups.map(({ load, viewers }) => {
    const rounds = roundsOf(results.rounds, load, viewers)
    const median = (measureOf: (round: Round) => number): number => medianOf(rounds.map(measureOf))
    const events = median(({ watched }) => watched?.eventsPerSecond ?? Number.NaN)
    return [
      ...[TITLES[load], String(viewers), whole(median(({ steps, seconds }) => steps / seconds))],
      ...[`${median(cpuOf).toFixed(3)} ms`, `${(100 * median(cpuShareOf)).toFixed(1)} %`],
      ...[`${median(({ loopP99Ms }) => loopP99Ms).toFixed(1)} ms`, viewers === 0 ? '' : whole(events)],
    ]
  })
  const head = ['', 'viewers', 'steps a second', 'CPU a step', 'CPU of a core', 'loop p99', 'events a second']
  const watched = results.rounds.flatMap((round) => round.watched ?? [])
  const sum = (key: 'resumes' | 'bytes'): number => watched.reduce((all, each) => all + each[key], 0)
  return [
    ...[...headOf(results), '', table(head, rows), ''],
    'A step: one of the sessions, or one published run. CPU: time of the process of the kernel, with its threads.',
    `The viewers left and continued ${whole(sum('resumes'))} times, and received ${whole(sum('bytes') / 1e6)} MB.`,
    ...['', barsTable(results)],
  ].join('\n')
}
