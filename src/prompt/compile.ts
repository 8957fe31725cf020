/** The compiler: sections in, a prompt out, and a list of what went into it. Pure: the same sections always give the same bytes. */

import { allot, byPriority } from './budget.ts'
import { type Fitted, fitted } from './cut.ts'
import type { Section } from './sections.ts'
import { estimateTokens } from './tokens.ts'

export interface Part {
  readonly name: string
  readonly text: string
  readonly tokens: number
  /** Tokens of it that were left out. */
  readonly missing: number
}

export interface Compiled {
  readonly text: string
  /** Of the whole text; never more than the limit. */
  readonly tokens: number
  /** In the order of the sections. */
  readonly parts: readonly Part[]
  /** Names of those that have something to say, and no room to say it. */
  readonly dropped: readonly string[]
}

const BETWEEN = '\n\n'
const BLANK_LINES = /^(?:[^\S\n]*\n)+/

/**
 * Contract: the sections that say something, in the order given, none over its ceiling, all within `limit` (null: no limit). What must be
 * whole is whole, or `model_oversize` is thrown; what was cut ends with a mark, and is listed as what was dropped is.
 */
export function compile(sections: readonly Section[], limit: number | null): Compiled {
  const between = estimateTokens(BETWEEN)
  const speaking = sections
    // Blank lines at its ends are not a section's to set.
    .map((section) => ({ ...section, text: section.text.replace(BLANK_LINES, '').trimEnd() }))
    .filter(({ text }) => text !== '')
    .map((section) => ({ ...section, need: estimateTokens(section.text) + between }))
  const given = allot(speaking, limit)
  const parts = new Map<number, Fitted>()
  let spare = 0
  for (const i of byPriority(speaking)) {
    const section = speaking[i]
    const tokens = given[i] ?? 0
    if (!section || tokens === 0) continue
    const room = roomFor(section, tokens, spare, between)
    const part = fitted(section.text, room)
    if (part) parts.set(i, part)
    // Cuts fall at the ends of lines: what that leaves goes to the next.
    spare += tokens - (part ? part.tokens + between : 0)
  }
  const kept = speaking.flatMap(({ name }, i): Part[] => {
    const part = parts.get(i)
    return part ? [{ name, ...part }] : []
  })
  const text = kept.map((part) => part.text).join(BETWEEN)
  return {
    text,
    tokens: estimateTokens(text),
    parts: kept,
    dropped: speaking.filter((_, i) => !parts.has(i)).map(({ name }) => name),
  }
}

function roomFor({ whole, ceiling }: Section, tokens: number, spare: number, between: number): number {
  const most = whole || ceiling === null ? Number.MAX_SAFE_INTEGER : ceiling
  return Math.min(tokens + spare, most) - between
}
