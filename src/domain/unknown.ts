/** Unknown: a call that was intended and whose outcome nobody knows. Every one is listed, also those only the model needed to hear of. */

import type { Reach } from './effect.ts'
import type { Json } from './json.ts'

export type UnknownStatus = 'open' | 'told_model' | 'resolved'
export const RESOLUTIONS = ['happened', 'not', 'recheck'] as const
export type Resolution = (typeof RESOLUTIONS)[number]

/** Names a call over all lives of the program: its idempotency key. */
export function callKeyOf(session_id: string, at: { readonly turn: number; readonly index: number }): string {
  return `${session_id}.${at.turn}.${at.index}`
}

/** Names one attempt at a call: the owner's word on it is good for no other. */
export function unknownIdOf(
  session_id: string,
  at: { readonly turn: number; readonly index: number; readonly attempt: number },
): string {
  const key = callKeyOf(session_id, at)
  return at.attempt === 1 ? key : `${key}.${at.attempt}`
}

export interface Unknown {
  readonly id: string
  readonly session_id: string
  readonly dispatch_id: string
  readonly tool: string
  readonly args: Json
  readonly reach: Reach
  readonly started_at: string
  readonly output_so_far: string
  readonly status: UnknownStatus
  readonly resolution: Resolution | null
}
