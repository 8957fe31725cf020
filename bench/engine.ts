/**
 * The engine suite: the same loop on the whole engine, on its store alone and on LangGraph JS; SQLite commits and disk
 * syncs alone give the upper limit. Subjects take turns in rounds, so that a machine that gets slower affects all of
 * them.
 */

import { barsOf, MANY, ONE, rowFor, timesPeer } from './bars.ts'
import { machineNow } from './machine.ts'
import {
  costAround,
  curveOf,
  type Figure,
  figureOf,
  type Point,
  type Row,
  rowOf,
  runSubject,
  sortRows,
} from './measure.ts'
import type { Load, Order, Sample } from './meter.ts'
import { peerVersions } from './peers/install.ts'
import { higher, lower, quotient, type Ratio } from './ratios.ts'
import { SUBJECTS, type SubjectName } from './subjects.ts'
import type { Scale, SuiteOptions, SuiteResults } from './suite.ts'

interface Plan {
  readonly rounds: number
  readonly warmUpMs: number
  readonly runs: readonly (Load & { readonly subject: SubjectName; readonly repeat: number })[]
  /** The loads that the ratios compare. */
  readonly loads: Loads
  readonly growth: {
    readonly early: number
    readonly late: number
    readonly reach: number
    readonly maxInput?: number
  }
}

export interface Loads {
  readonly one: Load
  readonly many: Load
}

const FULL: Plan = {
  rounds: 3,
  warmUpMs: 3000,
  runs: [
    { subject: 'disk', sessions: 1, steps: 5000, repeat: 1 },
    { subject: 'sqlite', sessions: 1, steps: 5000, repeat: 1 },
    { subject: 'store', ...ONE, repeat: 3 },
    { subject: 'store', ...MANY, repeat: 3 },
    { subject: 'tireless', ...ONE, repeat: 3 },
    { subject: 'langgraph', sessions: 1, steps: 50, repeat: 3 },
    { subject: 'langgraph', sessions: 1, steps: 200, repeat: 1 },
    { subject: 'langgraph', ...ONE, repeat: 1 },
    { subject: 'tireless', ...MANY, repeat: 3 },
    { subject: 'langgraph', ...MANY, repeat: 1 },
  ],
  loads: { one: ONE, many: MANY },
  growth: { early: 100, late: 10_000, reach: 50 },
}

const QUICK: Plan = {
  ...FULL,
  rounds: 1,
  warmUpMs: 1000,
  runs: FULL.runs.map((run) => ({ ...run, repeat: run.subject === 'langgraph' ? 1 : 3 })),
  growth: { early: 100, late: 2000, reach: 50 },
}

const [FEW_STEPS, FEW_SESSIONS]: readonly [Load, Load] = [
  { sessions: 1, steps: 20 },
  { sessions: 4, steps: 5 },
]

/** Runs every subject once. `maxInput` makes the memory cut the session, as it does after 10,000 steps. */
const SMOKE: Plan = {
  rounds: 1,
  warmUpMs: 0,
  runs: [
    { subject: 'disk', sessions: 1, steps: 20, repeat: 1 },
    { subject: 'sqlite', sessions: 1, steps: 20, repeat: 1 },
    ...(['store', 'tireless', 'langgraph'] as const).flatMap((subject) => [
      { subject, ...FEW_STEPS, repeat: 1 },
      { subject, ...FEW_SESSIONS, repeat: 1 },
    ]),
  ],
  loads: { one: FEW_STEPS, many: FEW_SESSIONS },
  growth: { early: 10, late: 50, reach: 5, maxInput: 4000 },
}

const PLANS: Readonly<Record<Scale, Plan>> = { full: FULL, quick: QUICK, smoke: SMOKE }

const PEER_PACKAGES = ['@langchain/langgraph', '@langchain/langgraph-checkpoint-sqlite', 'better-sqlite3']

export interface Bytes {
  readonly steps: number
  readonly tireless: number
  readonly langgraph: number | null
  /** The peer's value is extrapolated from its measured growth (a·n + b·n²). */
  readonly extrapolated: boolean
}

export interface Growth {
  readonly early: number
  readonly late: number
  readonly earlyMs: Figure
  readonly lateMs: Figure
  readonly ratio: Figure
  readonly bytes: readonly Bytes[]
  readonly curves: Readonly<Partial<Record<SubjectName, readonly Point[]>>>
}

export interface Results extends SuiteResults {
  readonly suite: 'engine'
  readonly loads: Loads
  readonly peers: Readonly<Record<string, string>>
  readonly rows: readonly Row[]
  readonly growth: Growth
}

export interface EngineOptions extends SuiteOptions {
  readonly withoutPeers: boolean
}

export async function measureEngine({ scale, folder, withoutPeers, say }: EngineOptions): Promise<Results> {
  const plan = PLANS[scale]
  const machine = machineNow()
  const runs = plan.runs.filter(({ subject }) => !withoutPeers || subject !== 'langgraph')
  const samples = new Map(runs.map((run) => [run, [] as Sample[]]))
  const long: Sample[] = []
  const { early, late, reach, maxInput } = plan.growth
  for (let round = 1; round <= plan.rounds; round++) {
    for (const run of runs) {
      const { subject, sessions, steps, repeat } = run
      say(`round ${round} of ${plan.rounds}: ${SUBJECTS[subject].title}, ${sessions} × ${steps}`)
      const order: Order = { sessions, steps, repeat, folder, warmUpMs: plan.warmUpMs }
      samples.get(run)?.push(...(await runSubject(SUBJECTS[subject].file, order)))
    }
    say(`round ${round} of ${plan.rounds}: ${SUBJECTS.tireless.title}, one session of ${late} steps`)
    const { warmUpMs } = plan
    const order: Order = { sessions: 1, steps: late + reach, maxInput, repeat: 1, folder, warmUpMs }
    long.push(...(await runSubject(SUBJECTS.tireless.file, order)))
  }
  const taken = [...samples].map(([run, taken]) => ({ run, taken, row: rowOf(run.subject, run, taken) }))
  const rows = sortRows(taken.map(({ row }) => row))
  const singleOf = (subject: SubjectName): readonly Sample[] =>
    taken.filter(({ run }) => run.subject === subject && run.sessions === 1).flatMap((one) => one.taken)
  const growth: Growth = {
    early,
    late,
    earlyMs: figureOf(long.map((sample) => costAround(early, sample, reach))),
    lateMs: figureOf(long.map((sample) => costAround(late, sample, reach))),
    ratio: figureOf(long.map((sample) => costAround(late, sample, reach) / costAround(early, sample, reach))),
    bytes: bytesOf(rows, plan.loads.one, rowOf('tireless', { sessions: 1, steps: late + reach }, long)),
    curves: {
      tireless: curveOf([...long, ...singleOf('tireless')]),
      ...(withoutPeers ? {} : { langgraph: curveOf(singleOf('langgraph')) }),
    },
  }
  return {
    suite: 'engine',
    scale,
    at: new Date().toISOString(),
    machine,
    peers: withoutPeers ? {} : peerVersions(PEER_PACKAGES),
    rows,
    growth,
    loads: plan.loads,
    bars: scale === 'smoke' ? [] : barsOf(rows, growth),
    ratios: engineRatios(rows, plan.loads, growth),
  }
}

export function engineRatios(rows: readonly Row[], { one, many }: Loads, growth: Growth): readonly Ratio[] {
  const bare = rows.find(({ subject }) => subject === 'sqlite')?.perSecond.median
  const row = (subject: SubjectName, load: Load): Row | undefined => rowFor(rows, subject, load)
  const cpu = (subject: SubjectName, load: Load) => row(subject, load)?.cpuMsPerStep.median
  const [short, long] = growth.bytes
  const loads = [
    ['one session', one],
    ['many sessions', many],
  ] as const
  return [
    ...loads.flatMap(([title, load]) => [
      higher(`steps a second against LangGraph JS, ${title}`, timesPeer(rows, 'tireless', load)),
      lower(`CPU a step against LangGraph JS, ${title}`, quotient(cpu('tireless', load), cpu('langgraph', load))),
      lower(`CPU a step against the bare store, ${title}`, quotient(cpu('tireless', load), cpu('store', load))),
    ]),
    higher(
      'steps a second against bare SQLite commits, one session',
      quotient(row('tireless', one)?.perSecond.median, bare),
    ),
    lower('commits a step, one session', row('tireless', one)?.commitsPerStep),
    lower('a late step of a session against an early one', growth.ratio.median),
    lower('bytes a step, long session against short', quotient(long?.tireless, short?.tireless)),
    lower('bytes a step against LangGraph JS, one session', quotient(short?.tireless, short?.langgraph)),
  ]
}

function bytesOf(rows: readonly Row[], one: Load, long: Row): readonly Bytes[] {
  const peer = rows.filter(({ subject, sessions }) => subject === 'langgraph' && sessions === 1)
  const short = rowFor(rows, 'tireless', one)
  return [
    {
      steps: one.steps,
      tireless: short?.bytesPerStep ?? Number.NaN,
      langgraph: rowFor(rows, 'langgraph', one)?.bytesPerStep ?? null,
      extrapolated: false,
    },
    {
      steps: long.steps,
      tireless: long.bytesPerStep,
      langgraph: extrapolate(peer, long.steps),
      extrapolated: true,
    },
  ]
}

/** The total grows with the square of the steps, so bytes per step grow linearly. */
function extrapolate(rows: readonly Row[], steps: number): number | null {
  const [last, first] = [rows[0], rows.at(-1)]
  if (!first || !last || first === last) return null
  const slope = (last.bytesPerStep - first.bytesPerStep) / (last.steps - first.steps)
  return last.bytesPerStep + slope * (steps - last.steps)
}
