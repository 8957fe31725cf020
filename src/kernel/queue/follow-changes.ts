/** Looks again whenever another process has changed a shared store, one look at a time. */

import type { Store } from '../../ports/store.ts'

/** Contract: looks now and after each change, until the result is called. A failed look has no consequence. */
export function followChanges({ onChange }: Pick<Store, 'onChange'>, look: () => Promise<unknown>): () => void {
  let isLooking = false
  let isStale = false
  let isOver = false
  const lookAgain = async (): Promise<void> => {
    isStale = true
    if (isLooking) return
    isLooking = true
    while (isStale && !isOver) {
      isStale = false
      // If the store has failed, the work itself notices it.
      await look().catch(() => undefined)
    }
    isLooking = false
  }
  if (!onChange) return () => {}
  const stop = onChange(() => void lookAgain())
  void lookAgain()
  return () => {
    isOver = true
    stop()
  }
}
