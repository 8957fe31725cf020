/**
 * Truncates a text to a number of tokens, with a mark that says how much is missing: keeps the beginning, or both ends.
 */

import { loadPrompt } from '../prompts/load-prompt.ts'
import { balanceFences } from './data-fence.ts'
import { estimateTokens } from './tokens.ts'

/** The search assumes that no token has more characters than this (a blank before a word costs no token). */
const MAX_CHARS_PER_TOKEN = 5

export interface TruncatedText {
  readonly text: string
  readonly tokens: number
  /** Tokens left out. */
  readonly missing: number
}

/**
 * Keeps the beginning. Contract: at most `room` tokens; undefined if not even the mark and one character fit. Never
 * splits a surrogate pair.
 */
export function truncateEnd(text: string, room: number): TruncatedText | undefined {
  const all = estimateTokens(text)
  if (all <= room) return { text, tokens: all, missing: 0 }
  let [fits, tooLong] = [0, Math.min(text.length, room * MAX_CHARS_PER_TOKEN) + 1]
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2)
    if (estimateTokens(keepBeginning(text, middle)) <= room) fits = middle
    else tooLong = middle
  }
  if (fits === 0) return undefined
  const cut = keepBeginning(text, atLineBreak(text, fits))
  const tokens = estimateTokens(cut)
  return { text: cut, tokens, missing: Math.max(0, all - tokens) }
}

/** The share of the kept text that comes from the beginning. */
const HEAD_SHARE = 0.6

/**
 * Keeps both ends. Contract: at most `room` tokens, or the mark alone. Data fences stay closed around their content.
 */
export function truncateMiddle(text: string, room: number): string {
  if (text.length <= room * MAX_CHARS_PER_TOKEN && estimateTokens(text) <= room) return text
  let [fits, tooLong] = [0, Math.min(text.length, room * MAX_CHARS_PER_TOKEN) + 1]
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2)
    if (estimateTokens(removeMiddle(text, middle)) <= room) fits = middle
    else tooLong = middle
  }
  return removeMiddle(text, fits)
}

function removeMiddle(text: string, kept: number): string {
  const head = Math.ceil(kept * HEAD_SHARE)
  const ends = balanceFences(
    text.slice(0, head).replace(/[\ud800-\udbff]$/, ''),
    text.slice(text.length - (kept - head)).replace(/^[\udc00-\udfff]/, ''),
  )
  const left = text.length - ends.head.length - ends.tail.length
  const mark = loadPrompt('history/cut-marks.md#middle', { missing: left, all: text.length })
  return [ends.head + ends.closing, mark, ends.tail].filter((part) => part !== '').join('\n')
}

function keepBeginning(text: string, length: number): string {
  const kept = text
    .slice(0, length)
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd()
  const mark = loadPrompt('history/cut-marks.md#end', { missing: text.length - kept.length, all: text.length })
  return `${kept}\n${mark}`
}

/** The end of the last complete line within `length`, unless that drops more than half of the text. */
function atLineBreak(text: string, length: number): number {
  if (text[length] === '\n') return length
  const at = text.lastIndexOf('\n', length - 1)
  return at > length / 2 ? at : length
}
