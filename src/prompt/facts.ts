/** What an agent remembers, as its mind is shown it when a run begins: the best matches, within a budget, quarantined as data. */

import type { Fact, Recalled, RecalledFact } from '../domain/fact.ts'
import type { Message } from '../ports/model.ts'
import { compile } from './compile.ts'
import { nonceOf, quarantined } from './data-fence.ts'
import { memoryMark } from './placeholders.ts'

/** With their fences. */
const MOST_TOKENS = 1500
const PER_FENCE = 60
const MOST_PER_FACT = 300
/** Less of a fact misleads. */
const LEAST_PER_FACT = 150

/** Contract: best match first, as they are given; undefined where there is none. */
export function recalledOf(facts: readonly Fact[]): Recalled | undefined {
  if (facts.length === 0) return undefined
  const sections = facts.map(({ id, key, text }, rank) => ({
    name: id,
    text: `${key}: ${text}`,
    whole: false,
    priority: -rank,
    floor: LEAST_PER_FACT,
    ceiling: MOST_PER_FACT,
  }))
  const { parts, dropped } = compile(sections, MOST_TOKENS - PER_FENCE * facts.length)
  const shown = new Map(parts.map((part) => [part.name, part]))
  const cut = facts.filter(({ id }) => (shown.get(id)?.missing ?? 0) > 0)
  const left = facts.filter(({ id }) => dropped.includes(id))
  return {
    facts: facts.flatMap(({ id, key, trust, private: isPrivate, created_at }): RecalledFact[] => {
      const text = shown.get(id)?.text
      return text === undefined ? [] : [{ id, key, text, trust, private: isPrivate, created_at }]
    }),
    ...(cut.length === 0 ? {} : { cut: cut.map(({ key }) => key) }),
    ...(left.length === 0 ? {} : { dropped: left.map(({ key }) => key) }),
  }
}

/** `ts`: when it was journalled. */
export function recalledMessage({ facts }: Recalled, ts: number): Message {
  return { role: 'user', text: ['[what you remember that may matter now]', ...shown(facts, ts)].join('\n') }
}

/** Contract: the text with what is remembered at its mark, and nothing else in it changed. */
export function withMemory(text: string, nonce: string, recalled: Recalled | undefined): string {
  const facts = shown(recalled?.facts ?? [], nonce)
  return text.replaceAll(memoryMark(nonce), () => facts.join('\n') || '(none)')
}

const shown = (facts: readonly RecalledFact[], salt: string | number): readonly string[] =>
  facts.map(({ id, text, created_at }) =>
    quarantined(`remembered ${created_at.slice(0, 10)}`, text, nonceOf(salt, id, text)),
  )
