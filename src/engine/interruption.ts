/** Why a run is interrupted: the program stops, somebody cancelled it, or its time is up. The reason of its signal. */

import type { CallResult } from '../domain/decision.ts'

/** What a call is told that was not begun, because its run was interrupted. */
export const INTERRUPTED_BEFORE: CallResult = { status: 'not_started', content: 'the run was interrupted before it' }

export class Interruption extends Error {
  readonly why: 'stopping' | 'cancelled' | 'time'
  constructor(why: Interruption['why']) {
    super(`interrupted: ${why}`)
    this.why = why
  }
}

/** Undefined: it is not interrupted. A signal without a reason of ours is a program that stops. */
export function whyInterrupted(signal: AbortSignal): Interruption['why'] | undefined {
  if (!signal.aborted) return undefined
  return signal.reason instanceof Interruption ? signal.reason.why : 'stopping'
}
