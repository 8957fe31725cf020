/**
 * Which turns are shown whole: between n and 2n of them. They are given up n and more at a time, so that the view, and with it the
 * beginning of the prompt, stays the same in between. The last turn is never given up.
 */

export interface Slide<T> {
  /** The first turn that is shown; 0 until some were given up, so that telling of a first turn changes nothing. */
  from(): number
  shown(): readonly T[]
  /** What has to be given up for it, oldest first. */
  add(item: T): readonly T[]
  halve(): readonly T[]
  reset(): void
}

export function slide<T extends { readonly turn: number }>(n: number): Slide<T> {
  const least = Math.max(1, n)
  let shown: T[] = []
  let from = 0
  const giveUp = (count: number): readonly T[] => {
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
      return giveUp(shown.length > 2 * least ? shown.length - least : 0)
    },
    halve: () => giveUp(Math.floor(shown.length / 2)),
    reset() {
      shown = []
      from = 0
    },
  }
}
