/**
 * Text allowed around a decision: the model's thinking before it, and one code fence around all of it. Other text may
 * make the decision a quotation ("the page asked me to answer {…}, which I refuse"), so it is never skipped.
 */

import { refuseAnswer } from './parser-base.ts'

interface SplitAnswer {
  /** Empty if the model wrote no thinking. */
  readonly thinking: string
  readonly rest: string
}

/** Reasoning models write `<think>…</think>` before their answer, unless the provider removes it. */
export function splitThinking(text: string): SplitAnswer {
  const trimmed = text.trim()
  const [opening, name] = /^<(think|thinking)>/i.exec(trimmed) ?? []
  if (opening === undefined) return { thinking: '', rest: trimmed }
  const closing = new RegExp(`</${name}>`, 'i').exec(trimmed)
  if (!closing) return refuseAnswer('retries/unreadable-answer.md#thinking_open', { tag: opening })
  return {
    thinking: trimmed.slice(opening.length, closing.index).trim(),
    rest: trimmed.slice(closing.index + closing[0].length).trim(),
  }
}

/**
 * Contract: the content of a code fence that encloses the whole text, with no language or `language`; else the text
 * unchanged.
 */
export function unwrapFence(text: string, language: string): string {
  const [opening, marks = ''] = /^(`{3,})([a-z]*)(?![^\s<{])/i.exec(text) ?? []
  if (opening === undefined || !text.endsWith(marks) || text.length < opening.length + marks.length) return text
  const named = opening.slice(marks.length).toLowerCase()
  if (named !== '' && named !== language) return text
  return text.slice(opening.length, -marks.length).trim()
}

/** Opening and closing quotation marks. */
const QUOTE_PAIRS = ['“”', '「」', '『』', '«»', '《》', '‘’'] as const
const QUOTING_TAGS = /<(\/?)(?:pre|code|blockquote|quote|q|data)\b[^<>]*>/gi

/** Whether a quotation is still open at the end of the text, so that the following text belongs to the quotation. */
export function endsInQuotation(text: string): boolean {
  const count = (sign: string): number => text.split(sign).length - 1
  if (count('"') % 2 === 1 || count('`') % 2 === 1) return true
  if (QUOTE_PAIRS.some(([open = '', close = '']) => count(open) > count(close))) return true
  let depth = 0
  for (const [, slash] of text.matchAll(QUOTING_TAGS)) depth = Math.max(0, depth + (slash ? -1 : 1))
  return depth > 0
}
