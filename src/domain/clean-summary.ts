/** Makes the summary of a run's result for people: short, without the model's reasoning and tool calls. */

import { truncateText } from './truncate.ts'

/** Contract: returns at most `max` code points; a truncated text ends with `...`. */
export function clipText(text: string, max: number): string {
  return truncateText(text, max, { mark: '...', includesMark: true, unit: 'code_point' })
}

/** Lines of reasoning or tool calls. Matched at the start of a line only, because a report may mention both. */
const REASONING_LINE = [
  /^(?:```|~~~)/,
  /^<\/?(?:think|thinking|reasoning)>/i,
  /^(?:thinking|reasoning)\s*[:：]/i,
  /^<assistant\s+to=/i,
  /^(?:recipient_name|tool_uses)\s*[:：]/i,
  /^[[{].*"tool_calls?"\s*:/,
]
const MAX_RAW = 300

/**
 * Contract: drops lines of reasoning and tool calls; if no other line remains, returns the beginning of the text,
 * marked `(raw)`.
 */
export function sanitiseSummary(text: string): string {
  const lines = text.split(/\r?\n/)
  const kept = lines.filter((line) => !REASONING_LINE.some((inner) => inner.test(line.trimStart())))
  const clean = kept.join('\n').trim()
  return clean !== '' || text.trim() === '' ? clean : `(raw) ${clipText(text.trim(), MAX_RAW)}`
}
