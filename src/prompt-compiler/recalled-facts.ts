/** The facts shown to the model when a run starts: the best matches within a token budget, fenced as data. */

import type { Fact, RecalledFact, RecalledFacts } from '../domain/fact.ts'
import type { ModelMessage } from '../ports/model.ts'
import { loadPrompt } from '../prompts/load-prompt.ts'
import { compileSections } from './compile.ts'
import { fenceUntrusted, nonceOf } from './data-fence.ts'
import { memoryMark } from './placeholders.ts'

/** Limits in tokens; the total includes the fences. */
const MAX_TOKENS = 1500
const FENCE_TOKENS = 60
const MAX_FACT_TOKENS = 300
/** A fact is left out if fewer tokens than this remain for it: a shorter part would mislead. */
const MIN_FACT_TOKENS = 150

/** `facts`: best match first. Contract: returns undefined if there are no facts. */
export function selectFacts(facts: readonly Fact[]): RecalledFacts | undefined {
  if (facts.length === 0) return undefined
  const sections = facts.map(({ id, key, text }, rank) => ({
    name: id,
    text: `${key}: ${text}`,
    whole: false,
    priority: -rank,
    floor: MIN_FACT_TOKENS,
    ceiling: MAX_FACT_TOKENS,
  }))
  const { parts, dropped } = compileSections(sections, MAX_TOKENS - FENCE_TOKENS * facts.length)
  const partsById = new Map(parts.map((part) => [part.name, part]))
  const cut = facts.filter(({ id }) => (partsById.get(id)?.missing ?? 0) > 0)
  const droppedFacts = facts.filter(({ id }) => dropped.includes(id))
  return {
    facts: facts.flatMap(({ id, key, trust, private: isPrivate, created_at }): RecalledFact[] => {
      const text = partsById.get(id)?.text
      return text === undefined ? [] : [{ id, key, text, trust, private: isPrivate, created_at }]
    }),
    ...(cut.length === 0 ? {} : { cut: cut.map(({ key }) => key) }),
    ...(droppedFacts.length === 0 ? {} : { dropped: droppedFacts.map(({ key }) => key) }),
  }
}

/** `ts`: when the facts were journalled. */
export function factsMessage({ facts }: RecalledFacts, ts: number): ModelMessage {
  return { role: 'user', text: loadPrompt('history/facts.md', { facts: fenceFacts(facts, ts).join('\n') }) }
}

/** Contract: replaces the memory mark with the facts; nothing else changes. */
export function insertFacts(text: string, nonce: string, recalled: RecalledFacts | undefined): string {
  const facts = fenceFacts(recalled?.facts ?? [], nonce)
  return text.replaceAll(memoryMark(nonce), () => facts.join('\n') || '(none)')
}

const fenceFacts = (facts: readonly RecalledFact[], salt: string | number): readonly string[] =>
  facts.map(({ id, text, created_at }) =>
    fenceUntrusted(`remembered ${created_at.slice(0, 10)}`, text, nonceOf(salt, id, text)),
  )
