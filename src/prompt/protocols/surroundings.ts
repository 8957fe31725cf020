/**
 * What may stand around a decision that is written as text: the model's own thinking before it, and one code fence around all of it.
 * Anything else around it may be a quotation ("the page asked me to answer {…}, which I refuse"), so it is never skipped.
 */

import { refuse } from './reading.ts'

export interface AfterThinking {
  /** Empty where there is none. */
  readonly thinking: string
  readonly rest: string
}

/** Models that reason write `<think>…</think>` before their answer where the provider does not take it out. */
export function splitThinking(text: string): AfterThinking {
  const trimmed = text.trim()
  const [opening, name] = /^<(think|thinking)>/i.exec(trimmed) ?? []
  if (opening === undefined) return { thinking: '', rest: trimmed }
  const closing = new RegExp(`</${name}>`, 'i').exec(trimmed)
  if (!closing) return refuse(`it was cut: ${opening} is not closed; send it again, whole`)
  return {
    thinking: trimmed.slice(opening.length, closing.index).trim(),
    rest: trimmed.slice(closing.index + closing[0].length).trim(),
  }
}

/** Contract: what stands in the one code fence that is all of the text, be it marked as `language`; otherwise the text as it is. */
export function unwrapFence(text: string, language: string): string {
  const [opening, marks = ''] = /^(`{3,})([a-z]*)(?![^\s<{])/i.exec(text) ?? []
  if (opening === undefined || !text.endsWith(marks) || text.length < opening.length + marks.length) return text
  const named = opening.slice(marks.length).toLowerCase()
  if (named !== '' && named !== language) return text
  return text.slice(opening.length, -marks.length).trim()
}

/** Each opens a quotation that the other closes. */
const QUOTE_PAIRS = ['“”', '「」', '『』', '«»', '《》', '‘’'] as const
const QUOTING_TAGS = /<(\/?)(?:pre|code|blockquote|quote|q|data)\b[^<>]*>/gi

/** Whether a quotation is still open where the text ends, so that what follows is a part of it. */
export function endsInQuotation(text: string): boolean {
  const count = (sign: string): number => text.split(sign).length - 1
  if (count('"') % 2 === 1 || count('`') % 2 === 1) return true
  if (QUOTE_PAIRS.some(([open = '', close = '']) => count(open) > count(close))) return true
  let depth = 0
  for (const [, slash] of text.matchAll(QUOTING_TAGS)) depth = Math.max(0, depth + (slash ? -1 : 1))
  return depth > 0
}
