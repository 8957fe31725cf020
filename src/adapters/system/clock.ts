/** The system clock: the only file that uses Date and timers. */

import { believed, type Clock } from '../../ports/clock.ts'

/** In ms. Node fires a longer timer after 1 ms, so a longer sleep uses several timers. */
const LONGEST_TIMER = 2 ** 31 - 1

export const systemClock: Clock = believed({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    const until = performance.now() + ms
    for (let left = ms; left > 0 && !signal?.aborted; left = until - performance.now()) await waitOnce(left, signal)
  },
})

function waitOnce(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const timer = setTimeout(wake, Math.min(Math.ceil(ms), LONGEST_TIMER))
    signal?.addEventListener('abort', wake, { once: true })
  })
}
