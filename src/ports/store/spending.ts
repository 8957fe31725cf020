/** Spending: money reserved and spent, and the models that were selected. */

import type { Usage } from '../../domain/journal-record.ts'
import type { ModelSelection } from '../../domain/model-selection.ts'
import type { Cap, Spend, SpendGroup, SpendSum } from '../../domain/money.ts'

export type SpendingOp =
  /**
   * Reserves money before a call. If a cap would be exceeded, nothing is reserved and the result names the cap. `usd`
   * is in millionths. Earlier reservations of the same dispatch that were never settled are booked as spent.
   */
  | ({ readonly op: 'reserve'; readonly id: string; readonly usd: number; readonly caps: readonly Cap[] } & Spender)
  /** Books the actual cost of a call, also without a reservation of that id. */
  | ({ readonly op: 'spent'; readonly id: string; readonly usd: number; readonly usage: Usage } & Spender)
  /** Releases a reservation: the call cost nothing. No effect if there is none. */
  | { readonly op: 'unspent'; readonly id: string }
  /** Sets the model of a scope; null removes the selection. */
  | { readonly op: 'select'; readonly scope: string; readonly model: string | null; readonly now: number }

/** What the cost of a model call is booked under. `day`: such as `2030-01-31`, in the owner's time zone. */
export interface Spender {
  readonly kernel_id: string
  readonly agent_id: string
  readonly dispatch_id: string
  readonly model: string
  readonly day: string
}

export interface SpendingResults {
  /**
   * `used`: the amount that counts against the cap; `reserved`: the part of it that is reserved for calls without an
   * answer.
   */
  reserve: { readonly refused: { readonly cap: Cap; readonly used: number; readonly reserved: number } | null }
  spent: null
  unspent: null
  select: null
}

export interface SpendingReads {
  selections(): Promise<readonly ModelSelection[]>
  /** Contract: both days included, sorted by day. */
  spend(from: string, to: string): Promise<readonly Spend[]>
  /** Contract: the sums of each day per agent or model, or of the day; both days included, sorted by day and key. */
  spendSums(range: SpendRange): Promise<readonly SpendSum[]>
}

interface SpendRange {
  readonly from: string
  readonly to: string
  readonly by: SpendGroup
}
