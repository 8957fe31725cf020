/**
 * Markdown as the cards of Lark show it. Lark's dialect has tags of its own (`<at id=all>` notifies everybody) and
 * refuses a card with an unknown picture or more than five tables; the text may come from anyone.
 */

/** A code block or a code span. Lark shows what is inside as it is. */
const CODE = /(^ {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:\n {0,3}\2[`~]*[^\S\n]*(?=\n|$)|$(?![\s\S]))|`[^`\n]+`)/m
const TABLE_LINE = /^\s*\|.*\|\s*$/
const SEPARATOR = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/
const MOST_TABLES = 5

/** Contract: pure; never throws. Plain text and code stay as they are. */
export function cardMarkdown(text: string): string {
  const clean = text.toWellFormed().replace(/[^\P{Cc}\t\n]/gu, '')
  return limitTables(
    splitCode(clean)
      .map(({ code, part }) => (code ? part : escapeTags(unlinkImages(part))))
      .join(''),
  )
}

function splitCode(text: string): { readonly code: boolean; readonly part: string }[] {
  const parts: { code: boolean; part: string }[] = []
  let rest = text
  while (rest !== '') {
    const found = CODE.exec(rest)
    if (!found) return [...parts, { code: false, part: rest }]
    const end = found.index + found[0].length
    parts.push({ code: false, part: rest.slice(0, found.index) }, { code: true, part: rest.slice(found.index, end) })
    rest = rest.slice(end)
  }
  return parts
}

/** Cards show only pictures that were uploaded to Lark. */
const unlinkImages = (text: string): string =>
  text.replace(/!\[([^\]\n]{0,500})\](?=\()/g, (_, name) => `[${name || '🖼'}]`)

const escapeTags = (text: string): string => text.replace(/<(?=[a-z/!?])/gi, '&#60;')

/** The tables beyond the fifth become code blocks. */
function limitTables(text: string): string {
  if (!text.includes('|')) return text
  const lines = text.split('\n')
  const shown: string[] = []
  let [tables, inCode, inTable] = [0, false, false]
  for (const [index, line] of lines.entries()) {
    if (/^ {0,3}(?:```|~~~)/.test(line)) inCode = !inCode
    const starts = !inCode && !inTable && TABLE_LINE.test(line) && SEPARATOR.test(lines[index + 1] ?? '')
    if (starts) tables += 1
    if (starts && tables > MOST_TABLES) shown.push('```')
    const ends = inTable && !TABLE_LINE.test(line)
    if (ends && tables > MOST_TABLES) shown.push('```')
    inTable = starts || (inTable && !ends)
    shown.push(line)
  }
  if (inTable && tables > MOST_TABLES) shown.push('```')
  return shown.join('\n')
}
