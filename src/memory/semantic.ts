/** Recall by meaning beside recall by words: both lists in one, so that neither an unknown word nor a vague likeness decides alone. */

import { TirelessError } from '../domain/error.ts'
import type { Fact } from '../domain/fact.ts'
import { describeValue, ignoreRejections } from '../domain/json.ts'
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
type Vector = readonly number[]

const isVector = (value: unknown, size: number): boolean =>
  Array.isArray(value) && value.length === size && value.every(Number.isFinite)

export function semanticRecall(store: Pick<Store, 'facts' | 'recallFacts'>, embedder: Embedder): Recall {
  const vectors = new Map<string, Vector>()
  const textOf = ({ key, text }: Fact): string => `${key}: ${text}`

  async function embed(texts: readonly string[]): Promise<readonly Vector[]> {
    const made: unknown = await embedder.embed(texts)
    const size = Array.isArray(made) ? made[0]?.length : undefined
    if (Array.isArray(made) && made.length === texts.length && made.every((vector) => isVector(vector, size)))
      return made.map((vector: Vector) => [...vector])
    ignoreRejections(made)
    throw new TirelessError('plugin_invalid', {
      what: `embedder ${embedder.name} returned an invalid value from embed()`,
      got: describeValue(made),
      expected: `${texts.length} lists of finite numbers, all of one length`,
    })
  }

  async function vectorsOf(facts: readonly Fact[]): Promise<void> {
    const missing = facts.filter(({ id }) => !vectors.has(id))
    if (missing.length === 0) return
    const made = await embed(missing.map(textOf))
    for (const [i, { id }] of missing.entries()) vectors.set(id, made[i] ?? [])
    for (const id of vectors.keys()) {
      if (vectors.size <= MOST_VECTORS) break
      vectors.delete(id)
    }
  }

  async function alike({ agent_id, text, now }: FactQuery): Promise<readonly Fact[]> {
    const facts = await store.facts({ agent_id, now, limit: MOST_FACTS })
    await vectorsOf(facts)
    const [wanted = []] = await embed([text])
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
