/** Gate: says of every call, before any call of its step is run, whether it may be. */

import type { Effect } from '../domain/effect.ts'
import type { Json } from '../domain/json.ts'

/** A call as it would be run. */
export interface GatedCall {
  readonly tool: string
  readonly args: Json
  readonly effect: Effect
  readonly session_id: string
  readonly agent_id: string
}

/** `ask`: a person has to allow it first. */
export type Clearance =
  | { readonly kind: 'allow'; readonly reason?: string }
  | { readonly kind: 'ask'; readonly reason: string }
  | { readonly kind: 'deny'; readonly reason: string }

export interface Gate {
  readonly name: string
  /**
   * Contract: changes nothing. Of several gates the strictest is heeded; one that throws, or says what is no clearance, has asked. A person's
   * word answers `ask`, never `deny`.
   */
  judge(call: GatedCall): Clearance | Promise<Clearance>
}
