/** The table. Pure: results in, text out. */

import { type Bar, rowFor, timesPeer } from './bars.ts'
import type { Results } from './engine.ts'
import type { Figure, Row } from './measure.ts'
import type { Load } from './meter.ts'
import { SUBJECTS, unitOf } from './subjects.ts'
import type { SuiteResults } from './suite.ts'

type Cells = readonly string[]

/** The first column is words, the others are figures. */
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
    `A step: one answer of the model, one tool call, all of it fsynced. Medians of up to ${samples} samples; ± is half the way from`,
    'the slowest to the fastest. Of bare: of what node:sqlite alone would allow one session, given the commits that a step takes.',
    Object.entries(peers)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
    '',
    growthTable(results),
    '',
    barsTable(results),
  ].join('\n')
}

export function headOf({ suite, machine, scale }: SuiteResults): Cells {
  return [
    `${suite} bench · Node ${machine.node} · ${machine.system}, ${machine.cores} cores${scale === 'full' ? '' : ` · ${scale}`}`,
    ...(machine.load > 0.5
      ? [`something else was running (load ${machine.load.toFixed(1)}): trust the ratios more than the figures`]
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

/** Steps a second, if nothing cost anything but one bare commit after the other. */
function floorOf(rows: readonly Row[], one: Load): number | undefined {
  const bare = rows.find(({ subject }) => subject === 'sqlite')?.perSecond.median
  const commits = rowFor(rows, 'tireless', one)?.commitsPerStep
  return bare && commits ? bare / commits : undefined
}

function growthTable({ growth, rows, loads }: Results): string {
  const { early, late, earlyMs, lateMs, ratio } = growth
  const peer = growth.curves.langgraph
  const ends = peer && [peer[0], peer.at(-1)]
  return [
    `one session: step ${early} took ${earlyMs.median.toFixed(2)} ms, step ${late} ${lateMs.median.toFixed(2)} ms: ${ratio.median.toFixed(2)} × (${ratio.min.toFixed(2)} … ${ratio.max.toFixed(2)})`,
    ...(ends?.[0] && ends[1]
      ? [
          `LangGraph JS: step ${whole(ends[0].step)} took ${ends[0].ms.toFixed(1)} ms, step ${whole(ends[1].step)} ${ends[1].ms.toFixed(1)} ms`,
        ]
      : []),
    ...growth.bytes.map(({ steps, tireless, langgraph, extrapolated }) =>
      [
        `database after ${whole(steps)} steps: ${whole(tireless)} bytes a step`,
        ...(langgraph === null
          ? []
          : [`LangGraph JS ${whole(langgraph)}${extrapolated ? ' (extrapolated from what was measured)' : ''}`]),
      ].join('; '),
    ),
    ...[loads.one, loads.many].flatMap((load) => overhead(rows, load)),
  ].join('\n')
}

function overhead(rows: readonly Row[], load: Load): readonly string[] {
  const [engine, store] = [rowFor(rows, 'tireless', load), rowFor(rows, 'store', load)]
  if (!engine || !store) return []
  const share = (100 * engine.perSecond.median) / store.perSecond.median
  return [
    `${load.sessions} session${load.sessions === 1 ? '' : 's'}: the engine does ${share.toFixed(0)} % of the steps of the bare loop on its store`,
  ]
}

export function barsTable({ bars }: { readonly bars: readonly Bar[] }): string {
  if (bars.length === 0) return 'a smoke run: the suite runs to its end, and nothing is said about time'
  const verdict = (pass: boolean | null): string => (pass === null ? '–' : pass ? 'pass' : 'FAIL')
  return table(
    ['bar', 'what', 'expected', 'got', ''],
    bars.map(({ id, what, bar, got, pass }) => [id, what, bar, got, verdict(pass)]),
    2,
  )
}

export const whole = (value: number): string => Math.round(value).toLocaleString('en-US')

export const spread = ({ median, min, max }: Figure): string => `${(((max - min) / 2 / median) * 100).toFixed(0)} %`
