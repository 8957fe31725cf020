/**
 * The viewers suite: what 20 viewers of live events cost. A kernel that works without a pause is measured in turn with
 * viewers and without, and so is one that publishes 10,000 events a second. The viewers leave and continue: each must
 * get every event once.
 */

import { join } from 'node:path'
import { atLeast, atMost, type Bar } from '../bars.ts'
import { machineNow } from '../machine.ts'
import { medianOf } from '../measure.ts'
import { lower, quotient } from '../ratios.ts'
import { barsTable, headOf, table, whole } from '../report.ts'
import type { Scale, SuiteOptions, SuiteResults } from '../suite.ts'
import { measureInTurn, type Pair, type Plan, type Round, type Slice } from './in-turn.ts'
import type { KernelLoad } from './protocol.ts'

const VIEWERS = 20
const PLANS: Readonly<Record<Scale, Plan & { readonly rounds: number; readonly perSecond: number }>> = {
  full: { rounds: 4, perSecond: 10_000, warmUpMs: 8000, pairs: 20, sliceMs: 1500, stayMs: 12_000 },
  quick: { rounds: 2, perSecond: 10_000, warmUpMs: 8000, pairs: 10, sliceMs: 1500, stayMs: 12_000 },
  smoke: { rounds: 1, perSecond: 1000, warmUpMs: 100, pairs: 1, sliceMs: 1000, stayMs: 1000 },
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
    for (const load of loads) {
      say(`round ${round} of ${plan.rounds}: ${TITLES[load.kind]}, with ${VIEWERS} viewers and without in turn`)
      rounds.push(await measureInTurn(join(folder, `${load.kind}-${round}`), load, VIEWERS, plan))
    }
  const ratios = [
    lower('time of a step, 20 viewers against none', medianOf(ratiosToNone(pairsOf(rounds, 'work'), timeOf))),
    lower('CPU of a step, 20 viewers against none', medianOf(ratiosToNone(pairsOf(rounds, 'work'), cpuOf))),
  ]
  const bars = [...countingBars(rounds), ...(scale === 'smoke' ? [] : timeBars(rounds, plan.perSecond))]
  return { suite: 'viewers', scale, at: new Date().toISOString(), machine, rounds, bars, ratios }
}

const TITLES = { work: 'a session at work', publish: 'events of recorded runs' } as const

const timeOf = ({ seconds, steps }: Slice): number => seconds / steps
const cpuOf = ({ cpuMs, steps }: Slice): number => cpuMs / steps
const cpuShareOf = ({ cpuMs, seconds }: Slice): number => cpuMs / 1000 / seconds

const pairsOf = (rounds: readonly Round[], load: Round['load']): readonly Pair[] =>
  rounds.filter((round) => round.load === load).flatMap(({ pairs }) => pairs)

/** Contract: with viewers against none, for each pair. */
const ratiosToNone = (pairs: readonly Pair[], measureOf: (slice: Slice) => number): readonly number[] =>
  pairs.map(({ alone, watched }) => quotient(measureOf(watched), measureOf(alone)) ?? Number.NaN)

const COUNT = { unit: '', digits: 0 }
const PERCENT = { unit: ' %', digits: 1 }

function countingBars(rounds: readonly Round[]): readonly Bar[] {
  const watched = rounds.map((round) => round.watched)
  const sum = (key: 'missing' | 'repeated' | 'resets'): number => watched.reduce((all, each) => all + each[key], 0)
  return [
    atMost('P6', 'events that a viewer missed', 0, sum('missing'), COUNT),
    atMost('P6', 'events that a viewer got twice', 0, sum('repeated'), COUNT),
    atMost('P6', 'viewers that had to fetch everything anew', 0, sum('resets'), COUNT),
  ]
}

function timeBars(rounds: readonly Round[], perSecond: number): readonly Bar[] {
  const slowed = (measureOf: (slice: Slice) => number): number =>
    medianOf(slowedAt(perSecond, pairsOf(rounds, 'work'), measureOf))
  const publishing = pairsOf(rounds, 'publish')
  const shares = publishing.map(({ alone, watched }) => cpuShareOf(watched) - cpuShareOf(alone))
  const received = publishing.map(({ watched }) => watched.received)
  return [
    atMost('P6', 'kernel that makes 10,000 events a second, slowed by 20 viewers', 5, slowed(timeOf), PERCENT),
    atMost('P6', 'kernel that makes 10,000 events a second, CPU for 20 viewers', 5, slowed(cpuOf), PERCENT),
    atMost('P6', 'CPU for 20 viewers of 10,000 events a second, share of a core', 5, 100 * medianOf(shares), PERCENT),
    // A viewer that is away gets what it missed when it is back.
    atLeast('P6', 'events that each viewer received a second', 0.95 * perSecond, medianOf(received), COUNT),
  ]
}

/** Contract: in percent, for each pair. Viewers cost by the event, and the kernel makes more or fewer than asked. */
function slowedAt(perSecond: number, pairs: readonly Pair[], measureOf: (slice: Slice) => number): readonly number[] {
  const made = medianOf(pairs.map(({ watched }) => watched.received)) * medianOf(ratiosToNone(pairs, timeOf))
  return ratiosToNone(pairs, measureOf).map((ratio) => (100 * (ratio - 1) * perSecond) / made)
}

export function viewersReport(results: ViewersResults): string {
  const rows = (['work', 'publish'] as const).flatMap((load) => {
    const pairs = pairsOf(results.rounds, load)
    const received = medianOf(pairs.map(({ watched }) => watched.received))
    const rowOf = (viewers: number, slices: readonly Slice[], last: string): readonly string[] => {
      const median = (measureOf: (slice: Slice) => number): number => medianOf(slices.map(measureOf))
      return [
        ...[TITLES[load], String(viewers), whole(median(({ steps, seconds }) => steps / seconds))],
        ...[`${median(cpuOf).toFixed(3)} ms`, `${(100 * median(cpuShareOf)).toFixed(1)} %`],
        ...[`${median(({ loopP99Ms }) => loopP99Ms).toFixed(1)} ms`, last],
      ]
    }
    return [
      rowOf(
        0,
        pairs.map(({ alone }) => alone),
        '',
      ),
      rowOf(
        VIEWERS,
        pairs.map(({ watched }) => watched),
        whole(received),
      ),
    ]
  })
  const head = ['', 'viewers', 'steps a second', 'CPU a step', 'CPU of a core', 'loop p99', 'events a second']
  const slowed = ratiosToNone(pairsOf(results.rounds, 'work'), timeOf).map((ratio) => 100 * (ratio - 1))
  const percent = (value: number): string => `${value.toFixed(1)} %`
  const sum = (key: 'resumes' | 'bytes'): number => results.rounds.reduce((all, { watched }) => all + watched[key], 0)
  return [
    ...[...headOf(results), '', table(head, rows), ''],
    'A step: one of the session, or one published run. CPU: time of the process of the kernel, with its threads.',
    `Slowed, in ${slowed.length} pairs: ${percent(medianOf(slowed))} (median), ${percent(meanOf(slowed))} (mean).`,
    `The viewers left and continued ${whole(sum('resumes'))} times, and received ${whole(sum('bytes') / 1e6)} MB.`,
    ...['', barsTable(results)],
  ].join('\n')
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
