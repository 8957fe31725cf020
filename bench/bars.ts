/** Bars: performance limits that a suite must meet. This file has the engine's bars. Pure. */

import type { Growth } from './engine.ts'
import type { Row } from './measure.ts'
import type { Load } from './meter.ts'
import type { SubjectName } from './subjects.ts'

export interface Bar {
  readonly id: string
  readonly what: string
  readonly bar: string
  readonly got: string
  /** Null: not measured. */
  readonly pass: boolean | null
}

/** The two loads that the bars measure. */
export const ONE: Load = { sessions: 1, steps: 500 }
export const MANY: Load = { sessions: 64, steps: 50 }

export const rowFor = (rows: readonly Row[], subject: SubjectName, { sessions, steps }: Load): Row | undefined =>
  rows.find((row) => row.subject === subject && row.sessions === sessions && row.steps === steps)

/** Contract: our speed divided by the peer's, at the same load. */
export function timesPeer(rows: readonly Row[], subject: SubjectName, load: Load): number | undefined {
  const [ours, theirs] = [rowFor(rows, subject, load), rowFor(rows, 'langgraph', load)]
  return ours && theirs && ours.perSecond.median / theirs.perSecond.median
}

export function barsOf(rows: readonly Row[], { early, late, ratio, bytes }: Growth): readonly Bar[] {
  const [one, many] = [rowFor(rows, 'tireless', ONE), rowFor(rows, 'tireless', MANY)]
  const [short, long] = bytes
  const bytesGrowth = short && long && long.tireless / short.tireless
  const mostBytes = Math.max(short?.tireless ?? Number.NaN, long?.tireless ?? Number.NaN)
  return [
    atLeast('P1', 'steps a second, × LangGraph JS, one session of 500', 50, timesPeer(rows, 'tireless', ONE), {
      unit: '×',
      digits: 1,
    }),
    atLeast('P1', 'steps a second, × LangGraph JS, 64 sessions of 50', 40, timesPeer(rows, 'tireless', MANY), {
      unit: '×',
      digits: 1,
    }),
    atMost('P1', 'commits a step, one session', 3, one?.commitsPerStep, { unit: '', digits: 2 }),
    atMost('P1', 'CPU a step, one session', 0.5, one?.cpuMsPerStep.median, { unit: ' ms', digits: 3 }),
    atMost('P1', 'CPU a step, 64 sessions', 0.5, many?.cpuMsPerStep.median, { unit: ' ms', digits: 3 }),
    atMost('P3', `step ${late} of a session against step ${early}`, 1.2, ratio.median, { unit: '×', digits: 2 }),
    atMost('P3', `bytes a step after ${long?.steps} steps against ${short?.steps}`, 1.1, bytesGrowth, {
      unit: '×',
      digits: 2,
    }),
    atMost('P3', 'bytes a step', 4000, mostBytes, { unit: '', digits: 0 }),
  ]
}

type Got = number | null | undefined

/** How a value is printed. */
interface NumberFormat {
  readonly unit: string
  readonly digits: number
}

export const atLeast = (id: string, what: string, bar: number, got: Got, format: NumberFormat): Bar =>
  checkBar({ id, what, bar: `≥ ${bar}${format.unit}` }, got, format, (value) => value >= bar)

export const atMost = (id: string, what: string, bar: number, got: Got, format: NumberFormat): Bar =>
  checkBar({ id, what, bar: `≤ ${bar}${format.unit}` }, got, format, (value) => value <= bar)

function checkBar(
  bar: Omit<Bar, 'got' | 'pass'>,
  got: Got,
  { unit, digits }: NumberFormat,
  holds: (value: number) => boolean,
): Bar {
  if (got == null || Number.isNaN(got)) return { ...bar, got: 'not measured', pass: null }
  return { ...bar, got: `${got.toFixed(digits)}${unit}`, pass: holds(got) }
}
