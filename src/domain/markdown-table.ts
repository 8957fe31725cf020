/** Markdown tables of untrusted texts: no text can break a row, a line or a mark. */

/** Code points. */
const MAX_CELL = 80

export function markdownTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  mostCell = MAX_CELL,
): string {
  return [
    `| ${columns.join(' | ')} |`,
    `|${columns.map(() => '---').join('|')}|`,
    ...rows.map((row) => `| ${row.map((text) => tableCell(text, mostCell)).join(' | ')} |`),
  ].join('\n')
}

/** Truncated before escaping, so that no escape is cut in two. */
function tableCell(text: string, most: number): string {
  return shortened(oneLine(text), most).replaceAll('\\', '\\\\').replaceAll('|', '\\|')
}

/** Removes line breaks and anything that looks like a mark of the runtime block. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll('<!--', '&lt;!--')
    .trim()
}

export function shortened(text: string, most: number): string {
  const characters = [...text]
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}
