/**
 * Sliding window: between n and 2n of the last turns are shown in full. Several turns leave the window at once, so that
 * the beginning of the prompt stays the same in between. The last turn never leaves it.
 */

interface SlidingWindow<T> {
  /**
   * Number of the first shown turn; 0 until a turn has left the window, so that adding the first turn does not change
   * it.
   */
  from(): number
  shown(): readonly T[]
  /** Adds a turn. Contract: returns the turns that leave the window because of it, oldest first. */
  add(item: T): readonly T[]
  evictHalf(): readonly T[]
  reset(): void
}

export function slidingWindow<T extends { readonly turn: number }>(n: number): SlidingWindow<T> {
  const min = Math.max(1, n)
  let shown: T[] = []
  let from = 0
  const evictOldest = (count: number): readonly T[] => {
    if (count === 0) return []
    const gone = shown.slice(0, count)
    shown = shown.slice(count)
    from = shown[0]?.turn ?? from
    return gone
  }
  return {
    from: () => from,
    shown: () => shown,
    add(item) {
      shown.push(item)
      return evictOldest(shown.length > 2 * min ? shown.length - min : 0)
    },
    evictHalf: () => evictOldest(Math.floor(shown.length / 2)),
    reset() {
      shown = []
      from = 0
    },
  }
}
