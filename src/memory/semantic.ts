/**
 * Recalls facts by meaning (vectors) and by words, combined into one ranking, so that neither a missing word nor a
 * vague similarity decides alone.
 */

import { TirelessError } from '../domain/error.ts'
import type { Fact } from '../domain/fact.ts'
import { describeValue, ignoreRejections } from '../domain/json.ts'
import type { Embedder } from '../ports/embedder.ts'
import type { FactQuery } from '../ports/store/documents.ts'
import type { Store } from '../ports/store.ts'

/** Limits: compared facts per agent, and cached vectors in total. */
const MAX_COMPARED_FACTS = 2000
const MAX_VECTORS = 10_000
/** Number of facts from each ranking that are combined. */
const MAX_RANKED = 50
/** Minimum cosine similarity of a match. */
const MIN_SIMILARITY = 0.35
/** The usual constant of reciprocal rank fusion: the larger, the less the first places count. */
const RANK_OFFSET = 60

type Recall = Store['recallFacts']
type Vector = readonly number[]

const isVector = (value: unknown, size: number): boolean =>
  Array.isArray(value) && value.length === size && value.every(Number.isFinite)

export function semanticRecall(store: Pick<Store, 'facts' | 'recallFacts'>, embedder: Embedder): Recall {
  const vectors = new Map<string, Vector>()
  const factText = ({ key, text }: Fact): string => `${key}: ${text}`

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

  async function cacheVectors(facts: readonly Fact[]): Promise<void> {
    const missing = facts.filter(({ id }) => !vectors.has(id))
    if (missing.length === 0) return
    const made = await embed(missing.map(factText))
    for (const [i, { id }] of missing.entries()) vectors.set(id, made[i] ?? [])
    for (const id of vectors.keys()) {
      if (vectors.size <= MAX_VECTORS) break
      vectors.delete(id)
    }
  }

  async function rankByMeaning({ agent_id, text, now }: FactQuery): Promise<readonly Fact[]> {
    const facts = await store.facts({ agent_id, now, limit: MAX_COMPARED_FACTS })
    await cacheVectors(facts)
    const [queryVector = []] = await embed([text])
    return facts
      .map((fact) => ({ fact, similarity: cosine(queryVector, vectors.get(fact.id) ?? []) }))
      .filter(({ similarity: likeness }) => likeness >= MIN_SIMILARITY)
      .toSorted((a, b) => b.similarity - a.similarity)
      .slice(0, MAX_RANKED)
      .map(({ fact }) => fact)
  }

  return async (query) => {
    const byWords = await store.recallFacts({ ...query, limit: Math.max(query.limit, MAX_RANKED) })
    const byMeaning = await rankByMeaning(query).catch((): readonly Fact[] => [])
    return fuseRankings([byWords, byMeaning]).slice(0, query.limit)
  }
}

function fuseRankings(lists: readonly (readonly Fact[])[]): readonly Fact[] {
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
