/** Search: selects one candidate of a branch decision. Without a search, the first one is taken. */

import type { Decision } from '../domain/decision.ts'
import type { Json } from '../domain/json.ts'
import type { ProposedDecision } from './behaviour.ts'

export type BranchCandidate = Exclude<Decision, { kind: 'branch' | 'invalid' }>

export interface BranchSearch {
  readonly name: string
  /** Contract: returns the candidates to use in place of these. Invalid ones are reported back to the model. */
  expand?(state: Json, candidates: readonly BranchCandidate[]): readonly ProposedDecision[]
  score(state: Json, candidate: BranchCandidate): number
  /** Contract: whether to drop a candidate. If all are dropped, the model decides again, a bounded number of times. */
  prune?(state: Json, candidate: BranchCandidate, score: number): boolean
  /** Contract: returns the index of the candidate to take; an invalid index is reported back. Default: best score. */
  select?(state: Json, scored: readonly { readonly candidate: BranchCandidate; readonly score: number }[]): number
}
