/** Formats rows as a table. */

import { style } from '../terminal.ts'

const MAX_CELL = 48

export function formatTable(rows: readonly Readonly<Record<string, unknown>>[], columns: readonly string[]): string {
  if (rows.length === 0) return 'none'
  const cells = rows.map((row) => columns.map((column) => cellOf(column, cellText(row[column]))))
  const widths = columns.map((column, i) => Math.max(column.length, ...cells.map((line) => line[i]?.length ?? 0)))
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, i) => text.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd()
  return [style('bold', line(columns)), ...cells.map(line)].join('\n')
}

/** Ids are never shortened: people copy them into other commands. */
const cellOf = (column: string, text: string): string => (/(^|_)id$/.test(column) ? text : shortenCell(text))

export function shortenCell(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > MAX_CELL ? `${line.slice(0, MAX_CELL - 1)}…` : line
}

export function cellText(value: unknown): string {
  if (value === null) return '-'
  return typeof value === 'object' ? 'none' : String(value)
}
