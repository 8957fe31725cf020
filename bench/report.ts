/** The report of the engine suite, and the table functions of all reports. Pure. */

import { type Bar, rowFor, timesPeer } from './bars.ts'
import type { Results } from './engine.ts'
import type { Figure, Row } from './measure.ts'
import type { Load } from './meter.ts'
import { SUBJECTS, unitOf } from './subjects.ts'
import type { SuiteResults } from './suite.ts'

type Cells = readonly string[]

/** The first `words` columns are left-aligned text, the others right-aligned numbers. */
export function table(head: Cells, rows: readonly Cells[], words = 1): string {
  const lines = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  const pad = (cell: string, column: number): string =>
    column < words ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
  const [first = '', ...rest] = lines.map((line) =>
    head
      .map((_, i) => pad(line[i] ?? '', i))
      .join('  ')
      .trimEnd(),
  )
  return [first, '─'.repeat(widths.reduce((sum, width) => sum + width + 2, -2)), ...rest].join('\n')
}

export function report(results: Results): string {
  const { rows, peers } = results
  const samples = Math.max(...rows.map(({ perSecond }) => perSecond.samples))
  return [
    ...headOf(results),
    '',
    rowsTable(results),
    '',
    `A step: one model answer and one tool call, all fsynced. Medians of up to ${samples} samples; ± is half the range`,
    'from slowest to fastest. Of bare: share of the speed that node:sqlite alone allows one session, given the commits',
    'per step.',
    Object.entries(peers)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
    '',
    growthTable(results),
    '',
    barsTable(results),
  ].join('\n')
}

export function headOf({ suite, machine: { node, system, cores, load }, scale }: SuiteResults): Cells {
  return [
    `${suite} bench · Node ${node} · ${system}, ${cores} cores${scale === 'full' ? '' : ` · ${scale}`}`,
    ...(load > 0.5
      ? [`Other programs were running (load ${load.toFixed(1)}): ratios are more reliable than times.`]
      : []),
  ]
}

function rowsTable({ rows, loads }: Results): string {
  const floor = floorOf(rows, loads.one)
  const head = [
    '',
    'sessions',
    'steps',
    'steps/s',
    '±',
    '× LangGraph',
    'of bare',
    'CPU ms',
    'commits',
    'lag p99 ms',
    'bytes',
  ]
  return table(
    head,
    rows.map((row) => {
      const { title } = SUBJECTS[row.subject]
      const unit = unitOf(row.subject)
      const times = unit ? undefined : timesPeer(rows, row.subject, row)
      const perStep = unit
        ? ['', '', '', '']
        : [
            row.cpuMsPerStep.median.toFixed(3),
            row.commitsPerStep?.toFixed(2) ?? '',
            row.lagP99Ms.toFixed(1),
            whole(row.bytesPerStep),
          ]
      return [
        unit ? `${title} (${unit})` : title,
        unit ? '' : String(row.sessions),
        unit ? '' : String(row.steps),
        whole(row.perSecond.median),
        spread(row.perSecond),
        times === undefined ? '' : times.toFixed(1),
        floor === undefined || unit ? '' : `${((100 * row.perSecond.median) / floor).toFixed(0)} %`,
        ...perStep,
      ]
    }),
  )
}

/** Steps per second if only bare commits took time. */
function floorOf(rows: readonly Row[], one: Load): number | undefined {
  const bare = rows.find(({ subject }) => subject === 'sqlite')?.perSecond.median
  const commits = rowFor(rows, 'tireless', one)?.commitsPerStep
  return bare && commits ? bare / commits : undefined
}

function growthTable({ growth, rows, loads }: Results): string {
  const { early, late, earlyMs, lateMs, ratio } = growth
  const peer = growth.curves.langgraph
  const ends = peer && [peer[0], peer.at(-1)]
  const took = (step: number, ms: string): string => `step ${whole(step)} took ${ms} ms`
  const range = `${ratio.median.toFixed(2)} × (${ratio.min.toFixed(2)} … ${ratio.max.toFixed(2)})`
  const ours = [took(early, earlyMs.median.toFixed(2)), took(late, lateMs.median.toFixed(2))]
  const theirs = ends?.[0] && ends[1] && ends.flatMap((end) => (end ? [took(end.step, end.ms.toFixed(1))] : []))
  return [
    `one session: ${ours.join(', ')}: ${range}`,
    ...(theirs ? [`LangGraph JS: ${theirs.join(', ')}`] : []),
    ...growth.bytes.map(({ steps, tireless, langgraph, extrapolated }) =>
      [
        `database after ${whole(steps)} steps: ${whole(tireless)} bytes a step`,
        ...(langgraph === null ? [] : [`LangGraph JS ${whole(langgraph)}${extrapolated ? ' (extrapolated)' : ''}`]),
      ].join('; '),
    ),
    ...[loads.one, loads.many].flatMap((load) => overhead(rows, load)),
  ].join('\n')
}

function overhead(rows: readonly Row[], load: Load): readonly string[] {
  const [engine, store] = [rowFor(rows, 'tireless', load), rowFor(rows, 'store', load)]
  if (!engine || !store) return []
  const share = (100 * engine.perSecond.median) / store.perSecond.median
  return [`sessions: ${load.sessions}; the engine reaches ${share.toFixed(0)} % of the speed of its store alone`]
}

export function barsTable({ bars }: { readonly bars: readonly Bar[] }): string {
  if (bars.length === 0) return 'Smoke run: the suite completed; times were not measured.'
  const verdict = (pass: boolean | null): string => (pass === null ? '–' : pass ? 'pass' : 'FAIL')
  return table(
    ['bar', 'what', 'expected', 'got', ''],
    bars.map(({ id, what, bar, got, pass }) => [id, what, bar, got, verdict(pass)]),
    2,
  )
}

export const whole = (value: number): string => Math.round(value).toLocaleString('en-US')

export const spread = ({ median, min, max }: Figure): string => `${(((max - min) / 2 / median) * 100).toFixed(0)} %`
