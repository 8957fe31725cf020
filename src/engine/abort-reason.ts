/** The abort reason of a run's signal: the program is stopping, the run was cancelled, or its time limit is reached. */

import type { CallResult } from '../domain/decision.ts'

/**
 * The result of a call that did not start because the run was interrupted. Not in src/prompts: a replay recognises this
 * result in journals by its text.
 */
export const NOT_STARTED_INTERRUPTED: CallResult = {
  status: 'not_started',
  content: 'The run was interrupted before this call started.',
}

export class Interruption extends Error {
  readonly why: 'stopping' | 'cancelled' | 'time'
  constructor(why: Interruption['why']) {
    super(`interrupted: ${why}`)
    this.why = why
  }
}

/** Contract: undefined if `signal` is not aborted. An abort reason that is not an Interruption counts as `stopping`. */
export function interruptionReason(signal: AbortSignal): Interruption['why'] | undefined {
  if (!signal.aborted) return undefined
  return signal.reason instanceof Interruption ? signal.reason.why : 'stopping'
}
