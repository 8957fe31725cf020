/** SIGTERM and SIGINT: after the first signal running steps may finish; a second signal or the deadline interrupts. */

import { systemClock } from '../adapters/system/clock.ts'
import type { CommandContext } from '../commands/lib/command.ts'

/** Time for current steps to finish, as long as no open app sets another deadline. */
const DRAIN_MS = 10_000

export interface SignalHandling {
  readonly signals: CommandContext['signals']
  /** From now on the first signal calls `stop`, which also has to interrupt the work at the deadline. */
  delegateStop(stop: () => void): void
  cancelDeadline(): void
  removeHandlers(): void
}

export function handleSignals(): SignalHandling {
  const drain = new AbortController()
  const abort = new AbortController()
  const over = new AbortController()
  let isStopping = false
  let drainFirst = (): void => {
    drain.abort()
    void systemClock.sleep(DRAIN_MS, over.signal).then(() => over.signal.aborted || abort.abort())
  }
  const stop = (): void => {
    if (isStopping) abort.abort()
    else drainFirst()
    isStopping = true
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // A write error on stdout means that nobody reads the output any more, so it counts as a signal.
  process.stdout.on('error', stop)
  return {
    signals: { drain: drain.signal, abort: abort.signal },
    delegateStop(stopApp) {
      drainFirst = stopApp
    },
    cancelDeadline: () => over.abort(),
    removeHandlers() {
      process.off('SIGTERM', stop)
      process.off('SIGINT', stop)
      process.stdout.off('error', stop)
    },
  }
}
