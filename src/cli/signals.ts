/** SIGTERM and SIGINT: drain first, interrupt after the deadline or at the second signal. */

import { systemClock } from '../adapters/clock.ts'
import type { Context } from '../commands/command.ts'

/** For whoever has no app yet that knows its own deadline. */
const DRAIN_MS = 10_000

export interface OnStop {
  readonly signals: Context['signals']
  /** From now on the first signal is heard by this one, who sees to the deadline as well. */
  stopBy(stop: () => void): void
  over(): void
  forget(): void
}

export function onStop(): OnStop {
  const drain = new AbortController()
  const abort = new AbortController()
  const over = new AbortController()
  let isAsked = false
  let begin = (): void => {
    drain.abort()
    void systemClock.sleep(DRAIN_MS, over.signal).then(() => over.signal.aborted || abort.abort())
  }
  const stop = (): void => {
    if (isAsked) abort.abort()
    else begin()
    isAsked = true
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // Whoever read the output is gone.
  process.stdout.on('error', stop)
  return {
    signals: { drain: drain.signal, abort: abort.signal },
    stopBy(stopping) {
      begin = stopping
    },
    over: () => over.abort(),
    forget() {
      process.off('SIGTERM', stop)
      process.off('SIGINT', stop)
      process.stdout.off('error', stop)
    },
  }
}
