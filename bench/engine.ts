/**
 * The engine suite: the same loop on the whole engine, on its store alone and on LangGraph JS, above what SQLite and the disk allow.
 * Subjects take turns, round after round, so that a machine that gets slower or faster does so for all of them.
 */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bar, barsOf, MANY, ONE, rowFor } from './bars.ts'
import { type Machine, machineNow } from './machine.ts'
import {
  costAround,
  curveOf,
  type Figure,
  figureOf,
  type Point,
  type Row,
  rowOf,
  runSubject,
  shown,
} from './measure.ts'
import type { Load, Order, Sample } from './meter.ts'
import { SUBJECTS, type SubjectName } from './subjects.ts'

interface Plan {
  readonly rounds: number
  readonly warmUpMs: number
  readonly runs: readonly (Load & { readonly subject: SubjectName; readonly repeat: number })[]
  readonly growth: { readonly early: number; readonly late: number; readonly reach: number }
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
  growth: { early: 100, late: 10_000, reach: 50 },
}

const QUICK: Plan = {
  rounds: 1,
  warmUpMs: 1000,
  runs: FULL.runs.map((run) => ({ ...run, repeat: run.subject === 'langgraph' ? 1 : 3 })),
  growth: { early: 100, late: 2000, reach: 50 },
}

export interface Bytes {
  readonly steps: number
  readonly tireless: number
  readonly langgraph: number | null
  /** The peer's is what its measured growth (a·n + b·n²) makes of so many steps. */
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

export interface Results {
  readonly suite: 'engine'
  readonly quick: boolean
  readonly at: string
  readonly machine: Machine
  readonly peers: Readonly<Record<string, string>>
  readonly rows: readonly Row[]
  readonly growth: Growth
  readonly bars: readonly Bar[]
}

export interface EngineOptions {
  readonly quick: boolean
  /** Databases are made below it. */
  readonly folder: string
  readonly withoutPeers: boolean
  readonly say: (line: string) => void
}

export async function measureEngine({ quick, folder, withoutPeers, say }: EngineOptions): Promise<Results> {
  const plan = quick ? QUICK : FULL
  const machine = machineNow()
  const runs = plan.runs.filter(({ subject }) => !withoutPeers || subject !== 'langgraph')
  const samples = new Map(runs.map((run) => [run, [] as Sample[]]))
  const long: Sample[] = []
  const { early, late, reach } = plan.growth
  for (let round = 1; round <= plan.rounds; round++) {
    for (const run of runs) {
      const { subject, sessions, steps, repeat } = run
      say(`round ${round} of ${plan.rounds}: ${SUBJECTS[subject].title}, ${sessions} × ${steps}`)
      const order: Order = { sessions, steps, repeat, folder, warmUpMs: plan.warmUpMs }
      samples.get(run)?.push(...(await runSubject(SUBJECTS[subject].file, order)))
    }
    say(`round ${round} of ${plan.rounds}: ${SUBJECTS.tireless.title}, one session of ${late} steps`)
    const order: Order = { sessions: 1, steps: late + reach, repeat: 1, folder, warmUpMs: plan.warmUpMs }
    long.push(...(await runSubject(SUBJECTS.tireless.file, order)))
  }
  const taken = [...samples].map(([run, taken]) => ({ run, taken, row: rowOf(run.subject, run, taken) }))
  const rows = shown(taken.map(({ row }) => row))
  const singleOf = (subject: SubjectName): readonly Sample[] =>
    taken.filter(({ run }) => run.subject === subject && run.sessions === 1).flatMap((one) => one.taken)
  const growth: Growth = {
    early,
    late,
    earlyMs: figureOf(long.map((sample) => costAround(early, sample, reach))),
    lateMs: figureOf(long.map((sample) => costAround(late, sample, reach))),
    ratio: figureOf(long.map((sample) => costAround(late, sample, reach) / costAround(early, sample, reach))),
    bytes: bytesOf(rows, rowOf('tireless', { sessions: 1, steps: late + reach }, long)),
    curves: {
      tireless: curveOf([...long, ...singleOf('tireless')]),
      ...(withoutPeers ? {} : { langgraph: curveOf(singleOf('langgraph')) }),
    },
  }
  return {
    suite: 'engine',
    quick,
    at: new Date().toISOString(),
    machine,
    peers: withoutPeers ? {} : peerVersions(),
    rows,
    growth,
    bars: barsOf(rows, growth),
  }
}

function bytesOf(rows: readonly Row[], long: Row): readonly Bytes[] {
  const peer = rows.filter(({ subject, sessions }) => subject === 'langgraph' && sessions === 1)
  const at500 = rowFor(rows, 'tireless', ONE)
  return [
    {
      steps: ONE.steps,
      tireless: at500?.bytesPerStep ?? Number.NaN,
      langgraph: rowFor(rows, 'langgraph', ONE)?.bytesPerStep ?? null,
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

/** Bytes per step grow along a straight line where the whole grows with the square. */
function extrapolate(rows: readonly Row[], steps: number): number | null {
  const [last, first] = [rows[0], rows.at(-1)]
  if (!first || !last || first === last) return null
  const slope = (last.bytesPerStep - first.bytesPerStep) / (last.steps - first.steps)
  return last.bytesPerStep + slope * (steps - last.steps)
}

function peerVersions(): Readonly<Record<string, string>> {
  const names = ['@langchain/langgraph', '@langchain/langgraph-checkpoint-sqlite', 'better-sqlite3']
  return Object.fromEntries(
    names.flatMap((name) => {
      const manifest = join(import.meta.dirname, 'peers', 'node_modules', name, 'package.json')
      return existsSync(manifest) ? [[name, String(JSON.parse(readFileSync(manifest, 'utf8')).version)]] : []
    }),
  )
}
