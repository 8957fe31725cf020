/** Search: which candidate of a branch is taken. Without one, the first. */

import type { Decision } from '../domain/decision.ts'
import type { Json } from '../domain/json.ts'
import type { Wish } from './behaviour.ts'

export type Candidate = Exclude<Decision, { kind: 'branch' | 'invalid' }>

export interface Search {
  readonly name: string
  /** Contract: other candidates in place of these, or these as they are. One that cannot be is told back, like any wish. */
  expand?(state: Json, candidates: readonly Candidate[]): readonly Wish[]
  score(state: Json, candidate: Candidate): number
  /** Contract: whether a candidate is given up. When all are, the mind is told so and decides anew, a bounded number of times. */
  prune?(state: Json, candidate: Candidate, score: number): boolean
  /** Contract: the index of the one to take; without this, the best score, first come first. No such index is told back. */
  select?(state: Json, scored: readonly { readonly candidate: Candidate; readonly score: number }[]): number
}
