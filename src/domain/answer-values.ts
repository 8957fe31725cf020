/** The JSON in a final answer. Pure, so that the engine and the library read an answer alike. */

import type { Json } from './json.ts'

const FENCED = /^```(?:json)?\s*\n([\s\S]*)\n\s*```$/i

/**
 * Contract: what the answer may mean, the likeliest first: the JSON that is the whole text or the content of a code
 * fence around it, then the text itself.
 */
export function answerValues(text: string): readonly Json[] {
  const trimmed = text.trim()
  try {
    return [JSON.parse(FENCED.exec(trimmed)?.[1] ?? trimmed) as Json, text]
  } catch {
    return [text]
  }
}
