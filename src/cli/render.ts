/** Output for people: one small view per verb where it pays, plain fields otherwise. */

import { styleText } from 'node:util'
import { approvalList, approvalView } from './approval-view.ts'
import { comparison, traceSteps } from './trace-views.ts'

type Fields = Readonly<Record<string, unknown>>

const FACT_COLUMNS = ['agent_id', 'key', 'status', 'created_at', 'text']

const VIEWS: Readonly<Record<string, (output: never) => string>> = {
  run: ({
    answer,
    error,
    wait,
    status,
  }: {
    answer: string | null
    error: string | null
    wait: { reason: string } | null
    status: string
  }) => answer ?? (wait ? `parked: ${wait.reason}` : `${status}: ${error ?? 'no answer'}`),
  'queue list': ({ items }: { items: Fields[] }) =>
    table(items, ['dispatch_id', 'agent_id', 'status', 'priority', 'attempts', 'prompt']),
  'sessions list': ({ items }: { items: Fields[] }) => table(items, ['session_id', 'agent_id', 'status', 'created_at']),
  'approvals list': approvalList,
  'approvals show': approvalView,
  'approvals allow': approvalView,
  'approvals deny': approvalView,
  'memory list': ({ items }: { items: Fields[] }) => table(items, FACT_COLUMNS),
  'memory search': ({ items }: { items: Fields[] }) => table(items, FACT_COLUMNS),
  'unknowns list': ({ items }: { items: Fields[] }) => table(items, ['id', 'tool', 'reach', 'status', 'started_at']),
  'config check': ({ file, unused }: { file: string | null; unused: string[] }) =>
    [
      file ? `${file} is good` : 'no configuration file: the defaults hold',
      ...unused.map((key) => `not used yet: ${key}`),
    ].join('\n'),
  'config explain': ({ items }: { items: { key: string; value: unknown; source: string }[] }) =>
    items
      .map(({ key, value, source }) => `${key}: ${short(JSON.stringify(value))}  ${styleText('dim', source)}`)
      .join('\n') || 'none',
  'config schema': (schema: Fields) => JSON.stringify(schema, null, 2),
  doctor: ({ checks }: { checks: { name: string; ok: boolean; found: string; remedy: string | null }[] }) =>
    checks
      .map(({ name, ok, found, remedy }) => {
        const mark = ok ? styleText('green', 'ok') : styleText('red', 'NO')
        return `${mark}  ${styleText('bold', name)}: ${found}${remedy === null ? '' : `\n    do this: ${remedy}`}`
      })
      .join('\n'),
  'trace list': ({ items }: { items: Fields[] }) =>
    table(items, ['run_id', 'status', 'stop_reason', 'step_count', 'started_at', 'task']),
  'trace show': traceSteps,
  'trace export': ({ file, bytes }: { file: string; bytes: number }) =>
    `${file} (${Math.ceil(bytes / 1024)} kB): open it in any browser`,
  compare: comparison,
  logs: ({ items }: { items: Entry[] }) => items.map(logLine).join('\n') || 'none',
}

type Entry = { ts: string; level: string; event: string } & Fields

/** Of a value that is told piece by piece, one piece. */
export function renderItem(name: string, item: unknown): string {
  return `${name === 'logs' ? logLine(item as Entry) : fields(item, '')}\n`
}

function logLine({ ts, level, event, run_id, session_id, step, ...rest }: Entry): string {
  const where =
    run_id === undefined ? '' : ` ${styleText('dim', `${String(run_id).slice(-8)}${step ? ` step ${step}` : ''}`)}`
  const details = Object.entries(rest).map(([key, value]) => `${styleText('dim', `${key}=`)}${plain(value)}`)
  return [`${styleText('dim', ts)} ${levelled(level)} ${event}${where}`, ...details].join(' ')
}

function levelled(level: string): string {
  return level === 'error' ? styleText('red', level) : level === 'warn' ? styleText('yellow', level) : level
}

export function render(name: string, output: unknown): string {
  const view = VIEWS[name] as ((output: unknown) => string) | undefined
  return `${view ? view(output) : fields(output, '')}\n`
}

function fields(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return `${indent}${String(value)}`
  const entries = Array.isArray(value) ? value.map((item, i) => [String(i), item] as const) : Object.entries(value)
  return entries
    .map(([key, item]) =>
      isPlain(item)
        ? `${indent}${label(key)} ${plain(item)}`
        : `${indent}${label(key)}\n${fields(item, `${indent}  `)}`,
    )
    .join('\n')
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0
}

function plain(value: unknown): string {
  if (value === null) return '-'
  return typeof value === 'object' ? 'none' : String(value)
}

const label = (key: string): string => styleText('dim', `${key}:`)

const WIDEST = 48

function table(rows: readonly Fields[], columns: readonly string[]): string {
  if (rows.length === 0) return 'none'
  const cells = rows.map((row) => columns.map((column) => short(plain(row[column]))))
  const widths = columns.map((column, i) => Math.max(column.length, ...cells.map((line) => line[i]?.length ?? 0)))
  const line = (words: readonly string[]): string =>
    words
      .map((word, i) => word.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd()
  return [styleText('bold', line(columns)), ...cells.map(line)].join('\n')
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > WIDEST ? `${line.slice(0, WIDEST - 1)}…` : line
}
