/** Output for people: one small view per verb where it pays, plain fields otherwise. */

import { styleText } from 'node:util'

type Fields = Readonly<Record<string, unknown>>
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
  'unknowns list': ({ items }: { items: Fields[] }) => table(items, ['id', 'tool', 'reach', 'status', 'started_at']),
  'config check': ({ file, unused }: { file: string | null; unused: string[] }) =>
    [
      file ? `${file} is good` : 'no configuration file: the defaults hold',
      ...unused.map((key) => `not used yet: ${key}`),
    ].join('\n'),
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
