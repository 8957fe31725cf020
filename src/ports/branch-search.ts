/** Search: selects one candidate of a branch decision. Without a search, the first candidate is taken. */

import type { Decision } from '../domain/decision.ts'
import type { Json } from '../domain/json.ts'
import type { ProposedDecision } from './behaviour.ts'

export type BranchCandidate = Exclude<Decision, { kind: 'branch' | 'invalid' }>

export interface BranchSearch {
  readonly name: string
  /**
   * Contract: returns candidates that replace the given ones. Invalid candidates are skipped; if all are invalid, that
   * is reported back to the model.
   */
  expand?(state: Json, candidates: readonly BranchCandidate[]): readonly ProposedDecision[]
  score(state: Json, candidate: BranchCandidate): number
  /**
   * Contract: returns whether to drop the candidate. If all candidates are dropped, the model decides again, a bounded
   * number of times.
   */
  prune?(state: Json, candidate: BranchCandidate, score: number): boolean
  /** Contract: returns the index of the candidate to take; an invalid index fails the step. Default: the best score. */
  select?(state: Json, scored: readonly { readonly candidate: BranchCandidate; readonly score: number }[]): number
}
