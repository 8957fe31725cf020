/**
 * Markdown as the cards of Lark show it. Lark's dialect has tags of its own (`<at id=all>` notifies the whole chat) and
 * refuses a card with an unknown picture or more than five tables; the text may come from anyone.
 * Line by line, and without expressions that backtrack: the time grows with the length of the text only.
 */

const MOST_TABLES = 5
const FENCE = '```'

/** Contract: pure; never throws. Plain text and code stay as they are; no text notifies a person. */
export function cardMarkdown(text: string): string {
  const lines = text
    .toWellFormed()
    .replace(/[^\P{Cc}\t\n]/gu, '')
    .split('\n')
  const shown: string[] = []
  let fence = ''
  let table: 'none' | 'shown' | 'code' = 'none'
  let tables = 0
  for (const [at, line] of lines.entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? ''
    const isCode = fence !== '' || mark !== ''
    if (table !== 'none' && (isCode || !isTableLine(line))) {
      if (table === 'code') shown.push(FENCE)
      table = 'none'
    }
    if (!isCode && table === 'none' && isTableLine(line) && isSeparator(lines[at + 1] ?? '')) {
      tables += 1
      table = tables > MOST_TABLES ? 'code' : 'shown'
      if (table === 'code') shown.push(FENCE)
    }
    shown.push(isCode || table === 'code' ? breakMentions(line) : showLine(line))
    if (fence === '') fence = mark
    else if (mark.startsWith(fence)) fence = ''
  }
  if (table === 'code') shown.push(FENCE)
  return shown.join('\n')
}

function isTableLine(line: string): boolean {
  const trimmed = line.trim()
  return trimmed.length > 1 && trimmed.startsWith('|') && trimmed.endsWith('|')
}

const isSeparator = (line: string): boolean => /^[|:\-\s]+$/.test(line) && line.includes('-')

/** A line outside of code blocks; it may contain code in backticks. */
const showLine = (line: string): string =>
  line
    .split(/(`[^`]+`)/)
    .map((part, at) => (at % 2 === 1 ? breakMentions(part) : escapeTags(unlinkPaths(unlinkPictures(part)))))
    .join('')

/** Cards show only pictures that were uploaded to Lark. */
const unlinkPictures = (text: string): string =>
  text.replace(/!\[([^\][]{0,200})\](?=\()/g, (_, name) => `[${name || '🖼'}]`)

/** A file of this machine, or anything else that is no address, cannot be opened from a chat. */
const unlinkPaths = (text: string): string =>
  text.replace(/\[([^\][]{1,200})\]\((?!https?:\/\/)(?:<[^>\n]*>|[^)\s]*)\)/gi, '$1')

const escapeTags = (text: string): string => text.replace(/<(?=[a-z/!?])/gi, '&#60;')

/** Lark may see the end of the code elsewhere, so a mention is broken there, too, by an invisible character. */
const breakMentions = (code: string): string => code.replace(/<(?=\/?(?:at|person)\b)/gi, '<\u200b')
