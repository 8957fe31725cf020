/** Needs: what waits for the owner and has no row of its own elsewhere (approvals, unknown outcomes and runs have). */

import type { Need, NeedAnswer, NeedStatus, NewNeed } from '../../domain/need.ts'
import type { PageLimit } from './page-limit.ts'

export type NeedOp =
  /**
   * Opens a need, once per id. While another one with the same `same_as` is open, that one gets the new kind, texts and
   * choices instead, and keeps its id and its time.
   */
  | { readonly op: 'need_open'; readonly need: NewNeed; readonly now: number }
  /** Records the owner's answer; `not_found` if there is no such need, `conflict` unless it is open. */
  | { readonly op: 'need_answer'; readonly id: string; readonly answer: NeedAnswer; readonly now: number }
  /** Ends the open need with this `same_as`, because its reason has ended; no effect if there is none. */
  | { readonly op: 'need_withdraw'; readonly same_as: string; readonly now: number }

export interface NeedResults {
  /** `id`: of the open need. `opened`: false if it was known already. */
  need_open: { readonly id: string; readonly opened: boolean }
  need_answer: null
  need_withdraw: { readonly withdrawn: boolean }
}

export interface NeedReads {
  need(id: string): Promise<Need | undefined>
  /** Contract: the open need with this `same_as`. */
  openNeed(sameAs: string): Promise<Need | undefined>
  /** Contract: newest first, from the given place on, with the number of all that match. */
  needs(
    filter: { readonly status?: NeedStatus | undefined; readonly offset?: number | undefined } & PageLimit,
  ): Promise<{ readonly items: readonly Need[]; readonly total: number }>
}
