/** Formats rows as a table. */

import { shortId } from '../../domain/short-id.ts'
import { style } from '../terminal.ts'
import { textWidth, truncateToWidth } from './text-width.ts'
import { sayIfInstant } from './times.ts'

/** In columns of the terminal. */
const MAX_CELL = 48

export function formatTable(rows: readonly Readonly<Record<string, unknown>>[], columns: readonly string[]): string {
  if (rows.length === 0) return 'none'
  const cells = rows.map((row) => columns.map((column) => cellOf(column, sayIfInstant(cellText(row[column])))))
  const widths = columns.map((column, i) => Math.max(...[column, ...cells.map((line) => line[i] ?? '')].map(textWidth)))
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, i) => text + ' '.repeat((widths[i] ?? 0) - textWidth(text)))
      .join('  ')
      .trimEnd()
  return [style('bold', line(columns)), ...cells.map(line)].join('\n')
}

/** Contract: a label and a text on each line, the texts in one column; a label is not repeated in the next line. */
export function formatLabelled(rows: readonly (readonly [label: string, text: string])[]): string {
  const width = Math.max(...rows.map(([label]) => textWidth(label)))
  return rows
    .map(([label, text], i) => {
      const shown = label === rows[i - 1]?.[0] ? '' : label
      return `${style('dim', shown)}${' '.repeat(width - textWidth(shown))}  ${text}`
    })
    .join('\n')
}

/** Ids are not cut but shown in the short form that commands accept; names that people chose are shown whole. */
const cellOf = (column: string, text: string): string => (/(^|_)id$/.test(column) ? shortId(text) : shortenCell(text))

export function shortenCell(text: string): string {
  return truncateToWidth(text.replaceAll(/\s+/g, ' '), MAX_CELL)
}

export function cellText(value: unknown): string {
  if (value === null) return '-'
  return typeof value === 'object' ? 'none' : String(value)
}
