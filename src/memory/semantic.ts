/** Recall by meaning beside recall by words: both lists in one, so that neither an unknown word nor a vague likeness decides alone. */

import type { Fact } from '../domain/fact.ts'
import type { Embedder } from '../ports/embedder.ts'
import type { FactQuery, Store } from '../ports/store.ts'

/** Facts of an agent that are looked at; vectors that are kept. */
const MOST_FACTS = 2000
const MOST_VECTORS = 10_000
/** Of each list, so many take part. */
const MOST_OF_A_LIST = 50
/** Less alike than this is not alike. */
const LEAST_LIKENESS = 0.35
/** How much the first places count for more than the next: the usual constant of rank fusion. */
const RANK_OFFSET = 60

type Recall = Store['recallFacts']

export function semanticRecall(store: Pick<Store, 'facts' | 'recallFacts'>, embedder: Embedder): Recall {
  const vectors = new Map<string, readonly number[]>()
  const textOf = ({ key, text }: Fact): string => `${key}: ${text}`

  async function vectorsOf(facts: readonly Fact[]): Promise<void> {
    const missing = facts.filter(({ id }) => !vectors.has(id))
    if (missing.length === 0) return
    const made = await embedder.embed(missing.map(textOf))
    for (const [i, { id }] of missing.entries()) vectors.set(id, made[i] ?? [])
    for (const id of vectors.keys()) {
      if (vectors.size <= MOST_VECTORS) break
      vectors.delete(id)
    }
  }

  async function alike({ agent_id, text, now }: FactQuery): Promise<readonly Fact[]> {
    const facts = await store.facts({ agent_id, now, limit: MOST_FACTS })
    await vectorsOf(facts)
    const [wanted = []] = await embedder.embed([text])
    return facts
      .map((fact) => ({ fact, likeness: cosine(wanted, vectors.get(fact.id) ?? []) }))
      .filter(({ likeness }) => likeness >= LEAST_LIKENESS)
      .toSorted((a, b) => b.likeness - a.likeness)
      .slice(0, MOST_OF_A_LIST)
      .map(({ fact }) => fact)
  }

  return async (query) => {
    const byWords = await store.recallFacts({ ...query, limit: Math.max(query.limit, MOST_OF_A_LIST) })
    const byMeaning = await alike(query).catch((): readonly Fact[] => [])
    return fused([byWords, byMeaning]).slice(0, query.limit)
  }
}

function fused(lists: readonly (readonly Fact[])[]): readonly Fact[] {
  const scores = new Map<string, { readonly fact: Fact; score: number }>()
  for (const list of lists)
    for (const [rank, fact] of list.entries()) {
      const known = scores.get(fact.id) ?? { fact, score: 0 }
      known.score += 1 / (RANK_OFFSET + rank)
      scores.set(fact.id, known)
    }
  return [...scores.values()].toSorted((a, b) => b.score - a.score).map(({ fact }) => fact)
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0)
  const length = Math.hypot(...a) * Math.hypot(...b)
  return length === 0 ? 0 : dot / length
}
