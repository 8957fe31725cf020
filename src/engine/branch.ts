/** Of several candidates one is taken: by the behaviour's search, or the first. What was chosen, and why, is recorded. */

import type { Decision } from '../domain/decision.ts'
import type { Candidate, Search } from '../ports/search.ts'
import { ownCopy } from './reduce.ts'
import { type Run, record } from './run.ts'
import type { OpenTurn } from './thread.ts'
import { decisionOfWish, invalid } from './wish.ts'

/** More than this no search looks at. */
const MOST_CANDIDATES = 64

interface Scored {
  readonly candidate: Candidate
  readonly score: number
}

export function choose(run: Run, open: OpenTurn, candidates: readonly Decision[]): Decision {
  const faulty = candidates.find(isInvalid)
  if (faulty) return faulty
  const { search } = run.behaviour
  if (!search) return taken(run, open, candidates, Array(candidates.length).fill(null), 0)
  const state = ownCopy(run.thread.state)
  const expanded = expandedBy(run, open, search, candidates as readonly Candidate[])
  const unfit = expanded.find(isInvalid)
  if (unfit) return unfit
  const scored = expanded.map((decision): Scored => {
    const candidate = decision as Candidate
    return { candidate, score: search.score(state, candidate) }
  })
  const scores = scored.map(({ score }) => score)
  const kept = scored.filter(({ candidate, score }) => !search.prune?.(state, candidate, score))
  if (kept.length === 0) {
    record(run, { kind: 'branched', turn: open.turn, scores, chosen: null })
    return invalid(`all ${expanded.length} candidates were given up; decide anew`)
  }
  const index = search.select?.(state, kept) ?? bestOf(kept)
  const best = kept[index]
  if (!best) return invalid(`the search ${search.name} selected number ${index} of ${kept.length} candidates`)
  return taken(run, open, expanded, scores, scored.indexOf(best))
}

/** What a search makes up is checked like any other wish. */
function expandedBy(run: Run, open: OpenTurn, search: Search, candidates: readonly Candidate[]): readonly Decision[] {
  const wishes = search.expand?.(ownCopy(run.thread.state), candidates) ?? candidates
  return wishes
    .slice(0, MOST_CANDIDATES)
    .map((wish) => candidates.find((known) => known === wish) ?? decisionOfWish(wish, run.toolbox, open.turn, true))
}

function taken(
  run: Run,
  open: OpenTurn,
  candidates: readonly Decision[],
  scores: readonly (number | null)[],
  chosen: number,
): Decision {
  // Chosen before a crash: the same again, whatever the search would say now.
  const index = open.chosen ?? chosen
  if (open.chosen === undefined) record(run, { kind: 'branched', turn: open.turn, scores, chosen: index })
  return candidates[index] ?? invalid('the candidate that was chosen is gone; decide anew')
}

function bestOf(scored: readonly Scored[]): number {
  return scored.reduce(
    (best, { score }, i) => (score > (scored[best]?.score ?? Number.NEGATIVE_INFINITY) ? i : best),
    0,
  )
}

const isInvalid = ({ kind }: Decision): boolean => kind === 'invalid'
