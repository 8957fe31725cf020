/**
 * Unknown outcome: a call that was started and whose result was lost. All such calls are listed, also those that were
 * only reported to the model.
 */

import type { EffectReach } from './effect.ts'
import type { Json } from './json.ts'

export const UNKNOWN_STATUSES = ['open', 'told_model', 'resolved'] as const
export type UnknownStatus = (typeof UNKNOWN_STATUSES)[number]
export const RESOLUTIONS = ['happened', 'not', 'recheck'] as const
export type Resolution = (typeof RESOLUTIONS)[number]

/** The idempotency key of a call; it is the same after every restart. */
export function callKeyOf(session_id: string, at: { readonly turn: number; readonly index: number }): string {
  return `${session_id}.${at.turn}.${at.index}`
}

/** Identifies one attempt at a call: the owner's resolution applies to this attempt only. */
export function unknownIdOf(
  session_id: string,
  at: { readonly turn: number; readonly index: number; readonly attempt: number },
): string {
  const key = callKeyOf(session_id, at)
  return at.attempt === 1 ? key : `${key}.${at.attempt}`
}

export interface UnknownOutcome {
  readonly id: string
  readonly session_id: string
  readonly dispatch_id: string
  readonly tool: string
  readonly args: Json
  readonly reach: EffectReach
  readonly started_at: string
  readonly output_so_far: string
  readonly status: UnknownStatus
  readonly resolution: Resolution | null
}
