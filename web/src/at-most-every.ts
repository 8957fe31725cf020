/** Work that is asked for often, and done seldom. */

/** Work that takes longer is not waited for: its request may be lost. */
const LONGEST_WORK_MS = 5000

/**
 * Contract: works at once, and again if called in the meantime, but only after the pause and when the work before has
 * settled: on a slow connection, requests would overtake each other, and none would be of use.
 */
export function atMostEvery(ms: number, work: () => Promise<unknown>): () => void {
  let [isBusy, isRequested] = [false, false]
  const workOn = async (): Promise<void> => {
    isBusy = true
    while (isRequested) {
      isRequested = false
      await Promise.allSettled([Promise.race([work(), pause(LONGEST_WORK_MS)]), pause(ms)])
    }
    isBusy = false
  }
  return () => {
    isRequested = true
    if (!isBusy) void workOn()
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
