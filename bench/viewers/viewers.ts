/**
 * The viewers suite: what 20 viewers of live events cost. Two kernels that work without a pause, one with viewers, run
 * in turn, a second each, while the other one is stopped: so both meet the same machine. So do two that publish 10,000
 * events a second. The viewers leave and continue: each must get every event once.
 */

import { join } from 'node:path'
import { atLeast, atMost, type Bar } from '../bars.ts'
import { machineNow } from '../machine.ts'
import { medianOf } from '../measure.ts'
import { lower, quotient } from '../ratios.ts'
import { barsTable, headOf, table, whole } from '../report.ts'
import type { Scale, SuiteOptions, SuiteResults } from '../suite.ts'
import { measureInTurn, type Plan, type Round } from './in-turn.ts'
import type { KernelLoad } from './protocol.ts'

const VIEWERS = 20
const PLANS: Readonly<Record<Scale, Plan & { readonly rounds: number; readonly perSecond: number }>> = {
  full: { rounds: 7, perSecond: 10_000, warmUpMs: 8000, slices: 16, sliceMs: 1000, stayMs: 12_000 },
  quick: { rounds: 3, perSecond: 10_000, warmUpMs: 8000, slices: 8, sliceMs: 1000, stayMs: 12_000 },
  smoke: { rounds: 1, perSecond: 1000, warmUpMs: 100, slices: 2, sliceMs: 700, stayMs: 1000 },
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
      say(`round ${round} of ${plan.rounds}: ${titleOf(load.kind)}, 0 and ${VIEWERS} viewers in turn`)
      rounds.push(...(await measureInTurn(join(folder, `${load.kind}-${round}`), load, [0, VIEWERS], plan)))
    }
  const ratios = [
    lower('time of a step, 20 viewers against none', medianOf(ratiosToNone(rounds, 'work', timeOf))),
    lower('CPU of a step, 20 viewers against none', medianOf(ratiosToNone(rounds, 'work', cpuOf))),
  ]
  const bars = [...countingBars(rounds), ...(scale === 'smoke' ? [] : timeBars(rounds, plan.perSecond))]
  return { suite: 'viewers', scale, at: new Date().toISOString(), machine, rounds, bars, ratios }
}

const TITLES = { work: 'a session at work', publish: 'events of recorded runs' } as const
const titleOf = (kind: KernelLoad['kind']): string => TITLES[kind]

const timeOf = ({ seconds, steps }: Round): number => seconds / steps
const cpuOf = ({ cpuMs, steps }: Round): number => cpuMs / steps
const receivedBy = ({ received }: Round): number => received ?? Number.NaN
const cpuShareOf = ({ cpuMs, seconds }: Round): number => cpuMs / 1000 / seconds

const roundsOf = (rounds: readonly Round[], load: Round['load'], viewers: number): readonly Round[] =>
  rounds.filter((round) => round.load === load && round.viewers === viewers)

/** Contract: with viewers against none, for each round; the two of a round ran in turn. */
function ratiosToNone(
  rounds: readonly Round[],
  load: Round['load'],
  measureOf: (round: Round) => number,
): readonly number[] {
  const alone = roundsOf(rounds, load, 0).map(measureOf)
  const watched = roundsOf(rounds, load, VIEWERS).map(measureOf)
  return watched.map((value, i) => quotient(value, alone[i]) ?? Number.NaN)
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

function timeBars(rounds: readonly Round[], perSecond: number): readonly Bar[] {
  const slowed = (measureOf: (round: Round) => number): number => medianOf(slowedAt(perSecond, rounds, measureOf))
  const publishing = roundsOf(rounds, 'publish', VIEWERS)
  const alone = roundsOf(rounds, 'publish', 0)
  const shares = publishing.map((round, i) => cpuShareOf(round) - cpuShareOf(alone[i] ?? round))
  const received = publishing.map(receivedBy)
  return [
    atMost('P6', 'kernel that makes 10,000 events a second, slowed by 20 viewers', 5, slowed(timeOf), PERCENT),
    atMost('P6', 'kernel that makes 10,000 events a second, CPU for 20 viewers', 5, slowed(cpuOf), PERCENT),
    atMost('P6', 'CPU for 20 viewers of 10,000 events a second, share of a core', 5, 100 * medianOf(shares), PERCENT),
    // A viewer that is away gets what it missed when it is back, so a little less arrives until the end.
    atLeast('P6', 'events that each viewer received a second', 0.95 * perSecond, medianOf(received), COUNT),
  ]
}

/** Contract: in percent, for each round. Viewers cost by the event, and the kernel makes more or fewer than asked. */
function slowedAt(perSecond: number, rounds: readonly Round[], measureOf: (round: Round) => number): readonly number[] {
  const times = ratiosToNone(rounds, 'work', timeOf)
  const made = roundsOf(rounds, 'work', VIEWERS).map((round, i) => receivedBy(round) * (times[i] ?? Number.NaN))
  return ratiosToNone(rounds, 'work', measureOf).map((ratio, i) => (100 * (ratio - 1) * perSecond) / (made[i] ?? 0))
}

export function viewersReport(results: ViewersResults): string {
  const groups = (['work', 'publish'] as const).flatMap((load) => [0, VIEWERS].map((viewers) => ({ load, viewers })))
  const rows = groups.map(({ load, viewers }) => {
    const rounds = roundsOf(results.rounds, load, viewers)
    const median = (measureOf: (round: Round) => number): number => medianOf(rounds.map(measureOf))
    return [
      ...[TITLES[load], String(viewers), whole(median(({ steps, seconds }) => steps / seconds))],
      ...[`${median(cpuOf).toFixed(3)} ms`, `${(100 * median(cpuShareOf)).toFixed(1)} %`],
      ...[`${median(({ loopP99Ms }) => loopP99Ms).toFixed(1)} ms`, viewers === 0 ? '' : whole(median(receivedBy))],
    ]
  })
  const head = ['', 'viewers', 'steps a second', 'CPU a step', 'CPU of a core', 'loop p99', 'events a second']
  const slowed = ratiosToNone(results.rounds, 'work', timeOf).map((ratio) => `${(100 * (ratio - 1)).toFixed(1)} %`)
  const watched = results.rounds.flatMap((round) => round.watched ?? [])
  const sum = (key: 'resumes' | 'bytes'): number => watched.reduce((all, each) => all + each[key], 0)
  return [
    ...[...headOf(results), '', table(head, rows), ''],
    'A step: one of the session, or one published run. CPU: time of the process of the kernel, with its threads.',
    `Slowed, round by round: ${slowed.join(', ')}.`,
    `The viewers left and continued ${whole(sum('resumes'))} times, and received ${whole(sum('bytes') / 1e6)} MB.`,
    ...['', barsTable(results)],
  ].join('\n')
}
