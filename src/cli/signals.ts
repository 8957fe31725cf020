/** SIGTERM and SIGINT: drain first, interrupt after the deadline or at the second signal. */

import { systemClock } from '../adapters/clock.ts'
import type { Context } from '../commands/command.ts'

const DRAIN_MS = 10_000

export function onStop(): { readonly signals: Context['signals']; over(): void; forget(): void } {
  const drain = new AbortController()
  const abort = new AbortController()
  const over = new AbortController()
  const stop = (): void => {
    if (drain.signal.aborted) {
      abort.abort()
      return
    }
    drain.abort()
    void systemClock.sleep(DRAIN_MS, over.signal).then(() => over.signal.aborted || abort.abort())
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // Whoever read the output is gone.
  process.stdout.on('error', stop)
  return {
    signals: { drain: drain.signal, abort: abort.signal },
    over: () => over.abort(),
    forget() {
      process.off('SIGTERM', stop)
      process.off('SIGINT', stop)
      process.stdout.off('error', stop)
    },
  }
}
