/**
 * Text of others, such as the arguments of a call, as a person who decides has to see it in a chat. Pure.
 * Invariants: nothing in it is invisible or turns the direction of writing; no part of it acts as Markdown.
 */

import type { Json } from './json.ts'

/** Control and format characters, and the separators of lines and paragraphs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Contract: one line; characters that are not seen are written as \uXXXX. */
export const showUnseen = (text: string): string =>
  text.replaceAll(UNSEEN, (char) =>
    Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )

export const showArguments = (args: Json): string => showUnseen(JSON.stringify(args))

/** Contract: Markdown that shows the text as it is, whatever it contains. */
export function codeSpan(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : ''
  return `${fence}${pad}${text}${pad}${fence}`
}

/** Contract: Markdown in which each line of the text is marked as quoted. */
export const quoteLines = (text: string): string =>
  text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => `> ${showUnseen(line.replaceAll('\t', ' '))}`)
    .join('\n')
