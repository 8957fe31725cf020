/** Compiles sections into a prompt within a token limit. Pure: the same sections always give the same bytes. */

import { allotTokens, byPriority } from './budget.ts'
import type { Section } from './sections.ts'
import { estimateTokens } from './tokens.ts'
import { type TruncatedText, truncateEnd } from './truncate.ts'

interface CompiledPart {
  readonly name: string
  readonly text: string
  readonly tokens: number
  /** Tokens left out of this section. */
  readonly missing: number
}

export interface CompiledPrompt {
  readonly text: string
  /** Tokens of the whole text; never more than the limit. */
  readonly tokens: number
  /** The sections that fit, in the given order. */
  readonly parts: readonly CompiledPart[]
  /** Names of the sections that did not fit. */
  readonly dropped: readonly string[]
}

const SEPARATOR = '\n\n'
const BLANK_LINES = /^(?:[^\S\n]*\n)+/

/**
 * Contract: joins the non-empty sections in the given order, each within its ceiling, all within `limit` tokens (null:
 * no limit). A `whole` section is never truncated; if it does not fit, `model_oversize` is thrown. A truncated section
 * ends with a mark.
 */
export function compileSections(sections: readonly Section[], limit: number | null): CompiledPrompt {
  const between = estimateTokens(SEPARATOR)
  const nonEmpty = sections
    // Remove blank lines around the section.
    .map((section) => ({ ...section, text: section.text.replace(BLANK_LINES, '').trimEnd() }))
    .filter(({ text }) => text !== '')
    .map((section) => ({ ...section, need: estimateTokens(section.text) + between }))
  const allotted = allotTokens(nonEmpty, limit)
  const parts = new Map<number, TruncatedText>()
  let unused = 0
  for (const i of byPriority(nonEmpty)) {
    const section = nonEmpty[i]
    const tokens = allotted[i] ?? 0
    if (!section || tokens === 0) continue
    const room = tokensFor(section, tokens, unused, between)
    const part = truncateEnd(section.text, room)
    if (part) parts.set(i, part)
    // Sections are truncated at line ends; the unused rest goes to the next section.
    unused += tokens - (part ? part.tokens + between : 0)
  }
  const kept = nonEmpty.flatMap(({ name }, i): CompiledPart[] => {
    const part = parts.get(i)
    return part ? [{ name, ...part }] : []
  })
  const text = kept.map((part) => part.text).join(SEPARATOR)
  return {
    text,
    tokens: estimateTokens(text),
    parts: kept,
    dropped: nonEmpty.filter((_, i) => !parts.has(i)).map(({ name }) => name),
  }
}

function tokensFor({ whole, ceiling }: Section, tokens: number, spare: number, between: number): number {
  const max = whole || ceiling === null ? Number.MAX_SAFE_INTEGER : ceiling
  return Math.min(tokens + spare, max) - between
}
