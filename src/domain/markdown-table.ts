/** Markdown tables of untrusted texts: no text can break a row or a line, or forge a mark of the runtime block. */

import { truncateText } from './truncate.ts'

/** The longest cell, in code points. */
const MAX_CELL = 80

export function markdownTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  maxCell = MAX_CELL,
): string {
  return [
    `| ${columns.join(' | ')} |`,
    `|${columns.map(() => '---').join('|')}|`,
    ...rows.map((row) => `| ${row.map((text) => tableCell(text, maxCell)).join(' | ')} |`),
  ].join('\n')
}

/** Truncated before escaping, so that no escape is cut in two. */
function tableCell(text: string, max: number): string {
  return truncateWithEllipsis(toOneLine(text), max).replaceAll('\\', '\\\\').replaceAll('|', '\\|')
}

/** Removes line breaks and anything that looks like a mark of the runtime block. */
export function toOneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll('<!--', '&lt;!--')
    .trim()
}

export function truncateWithEllipsis(text: string, max: number): string {
  return truncateText(text, max, { includesMark: true, unit: 'code_point' })
}
