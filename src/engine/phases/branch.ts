/**
 * Chooses one of several candidate decisions: the behaviour's search chooses; without a search, the first valid
 * candidate is taken. Records the choice and the scores.
 * Must not know: what a candidate does.
 * Invariants: an invalid candidate is skipped with a diagnosis and does not affect the others; after a crash the same
 * candidate is chosen.
 */

import type { Decision } from '../../domain/decision.ts'
import { deepFreeze, type Json } from '../../domain/json.ts'
import type { BranchCandidate, BranchSearch } from '../../ports/branch-search.ts'
import { askPlugin, callPlugin, invalidReturnError } from '../plugins/ask-plugin.ts'
import { candidatesPort, prunePort, scorePort, selectPort } from '../plugins/return-shapes.ts'
import { checkCandidate, invalidDecision } from '../request/check-behaviour-decision.ts'
import type { InvalidDecision } from '../request/invalid-decision-error.ts'
import { appendRecord, type Run } from '../run.ts'
import type { OpenTurn } from '../session/session-thread.ts'
import { recordDiagnosis } from './phase.ts'
import { copyState } from './reduce.ts'

/** Maximum number of candidates that a search considers. */
const MAX_CANDIDATES = 64

export function chooseCandidate(run: Run, open: OpenTurn, decided: readonly Decision[]): Decision {
  // A candidate that was chosen before a crash is kept, whatever the search would choose now.
  if (open.chosen !== undefined)
    return (
      (open.expanded ?? decided)[open.chosen] ?? invalidDecision('the chosen candidate no longer exists; decide again')
    )
  const usable = usableCandidates(run, decided)
  if (usable.length === 0) return mergeInvalid(decided)
  const { search } = run.behaviour
  const expanded = search?.expand ? expandCandidates(run, open, search, usable) : decided
  const isChanged = expanded.length !== decided.length || expanded.some((candidate, i) => candidate !== decided[i])
  const left = isChanged ? usableCandidates(run, expanded) : usable
  if (left.length === 0) return mergeInvalid(expanded)
  const { scores, best } = search ? pickBest(search, run.thread.state, left) : { scores: [], best: left[0] }
  appendRecord(run, {
    ...{ kind: 'branched', turn: open.turn },
    ...(isChanged ? { candidates: expanded } : {}),
    scores: expanded.map((candidate) => scores[left.indexOf(candidate as BranchCandidate)] ?? null),
    chosen: best ? expanded.indexOf(best) : null,
  })
  return best ?? invalidDecision(`all ${left.length} candidates were pruned; decide again`)
}

/** Filters out invalid candidates and records a diagnosis for each. */
function usableCandidates(run: Run, candidates: readonly Decision[]): readonly BranchCandidate[] {
  const usable = candidates.filter(isCandidate)
  if (usable.length > 0)
    for (const [i, candidate] of candidates.entries())
      if (candidate.kind === 'invalid') recordDiagnosis(run, `candidate ${i + 1}`, `skipped: ${candidate.feedback}`)
  return usable
}

/** Lets the search replace or add candidates. New candidates are checked like the decisions of a behaviour. */
function expandCandidates(
  run: Run,
  open: OpenTurn,
  search: BranchSearch,
  known: readonly BranchCandidate[],
): readonly Decision[] {
  const port = candidatesPort(search.name)
  const state = deepFreeze(copyState(run.thread.state))
  const proposals = callPlugin(port, () => search.expand?.(state, known)) ?? known
  if (!Array.isArray(proposals)) throw invalidReturnError(port, proposals)
  const source = { ...port, toolbox: run.toolbox, turn: open.turn }
  return [...proposals.slice(0, MAX_CANDIDATES)].map(
    (proposal: unknown) => known.find((each) => each === proposal) ?? deepFreeze(checkCandidate(proposal, source)),
  )
}

interface Scored {
  readonly candidate: BranchCandidate
  readonly score: number
}

/** `best` is undefined if all candidates were pruned. */
function pickBest(search: BranchSearch, given: Json, candidates: readonly BranchCandidate[]) {
  const { name } = search
  const state = deepFreeze(copyState(given))
  const scored = candidates.map((candidate): Scored => {
    const score = askPlugin(scorePort(name), () => search.score(state, candidate))
    return deepFreeze({ candidate, score })
  })
  const isPruned = ({ candidate, score }: Scored): boolean =>
    search.prune !== undefined && askPlugin(prunePort(name), () => search.prune?.(state, candidate, score))
  const kept = scored.filter((each) => !isPruned(each))
  const port = selectPort(name, kept.length)
  const select = (): unknown => search.select?.(state, [...kept])
  const index = search.select && kept.length > 0 ? askPlugin(port, select) : bestIndex(kept)
  if (index > 0 && index >= kept.length) throw invalidReturnError(port, index)
  return { scores: scored.map(({ score }) => score), best: kept[index]?.candidate }
}

function bestIndex(scored: readonly Scored[]): number {
  return scored.reduce(
    (best, { score }, i) => (score > (scored[best]?.score ?? Number.NEGATIVE_INFINITY) ? i : best),
    0,
  )
}

function mergeInvalid(candidates: readonly Decision[]): Decision {
  const [first, ...more] = candidates.filter(({ kind }) => kind === 'invalid') as readonly InvalidDecision[]
  if (first && more.length === 0) return first
  return invalidDecision([first, ...more].map((each) => each?.feedback).join('; ') || 'the branch has no candidates')
}

const isCandidate = (decision: Decision): decision is BranchCandidate =>
  decision.kind !== 'invalid' && decision.kind !== 'branch'
