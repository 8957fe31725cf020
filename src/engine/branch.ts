/**
 * Of several candidates one is taken: by the behaviour's search, or the first. What was chosen, and why, is recorded.
 * Must not know: what a candidate does.
 * Invariants: one that is invalid is left out with a diagnosis, and costs the others nothing; after a crash the same one is taken.
 */

import type { Decision } from '../domain/decision.ts'
import { deepFreeze, type Json } from '../domain/json.ts'
import type { Candidate, Search } from '../ports/search.ts'
import { askPlugin, callPlugin, invalidReturn } from './ask-plugin.ts'
import { diagnose } from './phase.ts'
import { ownCopy } from './reduce.ts'
import { candidatesPort, prunePort, scorePort, selectPort } from './return-shapes.ts'
import { type Run, record } from './run.ts'
import type { OpenTurn } from './thread.ts'
import type { Invalid } from './unusable.ts'
import { candidateOf, invalid } from './wish.ts'

/** More than this no search looks at. */
const MOST_CANDIDATES = 64

export function choose(run: Run, open: OpenTurn, decided: readonly Decision[]): Decision {
  // Chosen before a crash: the same again, whatever the search would say now.
  if (open.chosen !== undefined)
    return (open.expanded ?? decided)[open.chosen] ?? invalid('the candidate that was chosen is gone; decide anew')
  const usable = usableOf(run, decided)
  if (usable.length === 0) return allInvalid(decided)
  const { search } = run.behaviour
  const expanded = search?.expand ? expandedBy(run, open, search, usable) : decided
  const isOther = expanded.length !== decided.length || expanded.some((candidate, i) => candidate !== decided[i])
  const left = isOther ? usableOf(run, expanded) : usable
  if (left.length === 0) return allInvalid(expanded)
  const { scores, best } = search ? bestBy(search, run.thread.state, left) : { scores: [], best: left[0] }
  record(run, {
    ...{ kind: 'branched', turn: open.turn },
    ...(isOther ? { candidates: expanded } : {}),
    scores: expanded.map((candidate) => scores[left.indexOf(candidate as Candidate)] ?? null),
    chosen: best ? expanded.indexOf(best) : null,
  })
  return best ?? invalid(`all ${left.length} candidates were given up; decide anew`)
}

/** Those that are none are diagnosed. */
function usableOf(run: Run, candidates: readonly Decision[]): readonly Candidate[] {
  const usable = candidates.filter(isCandidate)
  if (usable.length > 0)
    for (const [i, candidate] of candidates.entries())
      if (candidate.kind === 'invalid') diagnose(run, `candidate ${i + 1}`, `left out: ${candidate.feedback}`)
  return usable
}

/** What a search makes up is checked like any other wish. */
function expandedBy(run: Run, open: OpenTurn, search: Search, known: readonly Candidate[]): readonly Decision[] {
  const port = candidatesPort(search.name)
  const state = deepFreeze(ownCopy(run.thread.state))
  const wishes = callPlugin(port, () => search.expand?.(state, known)) ?? known
  if (!Array.isArray(wishes)) throw invalidReturn(port, wishes)
  const source = { ...port, toolbox: run.toolbox, turn: open.turn }
  return [...wishes.slice(0, MOST_CANDIDATES)].map(
    (wish: unknown) => known.find((each) => each === wish) ?? deepFreeze(candidateOf(wish, source)),
  )
}

interface Scored {
  readonly candidate: Candidate
  readonly score: number
}

/** No best: all were given up. */
function bestBy(search: Search, given: Json, candidates: readonly Candidate[]) {
  const { name } = search
  const state = deepFreeze(ownCopy(given))
  const scored = candidates.map((candidate): Scored => {
    const score = askPlugin(scorePort(name), () => search.score(state, candidate))
    return deepFreeze({ candidate, score })
  })
  const isGivenUp = ({ candidate, score }: Scored): boolean =>
    search.prune !== undefined && askPlugin(prunePort(name), () => search.prune?.(state, candidate, score))
  const kept = scored.filter((each) => !isGivenUp(each))
  const port = selectPort(name, kept.length)
  const select = (): unknown => search.select?.(state, [...kept])
  const index = search.select && kept.length > 0 ? askPlugin(port, select) : bestOf(kept)
  if (index > 0 && index >= kept.length) throw invalidReturn(port, index)
  return { scores: scored.map(({ score }) => score), best: kept[index]?.candidate }
}

function bestOf(scored: readonly Scored[]): number {
  return scored.reduce(
    (best, { score }, i) => (score > (scored[best]?.score ?? Number.NEGATIVE_INFINITY) ? i : best),
    0,
  )
}

function allInvalid(candidates: readonly Decision[]): Decision {
  const [first, ...more] = candidates.filter(({ kind }) => kind === 'invalid') as readonly Invalid[]
  if (first && more.length === 0) return first
  return invalid([first, ...more].map((each) => each?.feedback).join('; ') || 'a branch without candidates')
}

const isCandidate = (decision: Decision): decision is Candidate =>
  decision.kind !== 'invalid' && decision.kind !== 'branch'
