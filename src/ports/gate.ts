/** Gate: allows or refuses each call of a step, before any call of that step runs. */

import type { Effect } from '../domain/effect.ts'
import type { Json } from '../domain/json.ts'
import type { Label } from '../domain/label.ts'

/** A call, exactly as it would run if allowed. */
export interface GatedCall {
  readonly tool: string
  readonly args: Json
  readonly effect: Effect
  readonly session_id: string
  readonly agent_id: string
}

/**
 * `ask`: a person has to approve the call first. `label`: of the reason; absent: it is as trusted as the owner's text.
 * The model reads an untrusted reason in a data fence.
 */
export type GateVerdict =
  | { readonly kind: 'allow'; readonly reason?: string }
  | { readonly kind: 'ask'; readonly reason: string; readonly label?: Label }
  | { readonly kind: 'deny'; readonly reason: string; readonly label?: Label }

export interface Gate {
  readonly name: string
  /**
   * Contract: changes nothing. The strictest of several gates wins. A gate that throws or returns an invalid value
   * counts as `ask`. A person can approve a call judged `ask`, never one judged `deny`.
   */
  judge(call: GatedCall): GateVerdict | Promise<GateVerdict>
}
