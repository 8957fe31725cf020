/** Time limits within a process, measured by the injected clock. A timer ends with the work that it limits. */

import type { Clock } from './clock.ts'

/**
 * Contract: calls `onElapsed` after `ms` of monotonic time, never if `ms` is infinite. The returned function stops the
 * timer.
 */
export function startTimer(clock: Clock, ms: number, onElapsed: () => void): () => void {
  const stopped = new AbortController()
  if (ms < Number.POSITIVE_INFINITY)
    void clock.sleep(ms, stopped.signal).then(() => stopped.signal.aborted || onElapsed())
  return () => stopped.abort('stopped')
}

interface TimeLimit {
  readonly clock: Clock
  /** Infinite: no time limit. */
  readonly ms: number
  /** Ends the work like the time limit. */
  readonly stop?: AbortSignal | undefined
}

const LATE = Symbol('late')

/**
 * Contract: settles like `work`, or like `onTimeout` if the time is over or `stop` aborts first; then the work is
 * abandoned and its errors are ignored. In any case the timer is stopped and the signal of the work aborts at the end.
 */
export async function withDeadline<T, L = undefined>(
  { clock, ms, stop }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
  onTimeout: () => L = () => undefined as L,
): Promise<T | L> {
  const over = new AbortController()
  const late = Promise.withResolvers<typeof LATE>()
  const giveUp = (): void => late.resolve(LATE)
  const stopTimer = startTimer(clock, ms, giveUp)
  if (stop?.aborted) giveUp()
  else stop?.addEventListener('abort', giveUp)
  const done = (async () => work(over.signal))()
  done.catch(() => {})
  try {
    const outcome = await Promise.race([done, late.promise])
    return outcome === LATE ? onTimeout() : outcome
  } finally {
    stopTimer()
    stop?.removeEventListener('abort', giveUp)
    over.abort(stop?.aborted ? stop.reason : 'over')
  }
}

/** Contract: resolves when `signal` aborts; never rejects. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
