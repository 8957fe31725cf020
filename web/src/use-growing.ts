/** Draws much in slices, one for each frame, so that no task of the page is long. */

import { useEffect, useState } from 'preact/hooks'

interface Growth {
  readonly first: number
  readonly slice: number
}

/** Contract: how much is drawn now: `first` at the beginning, `slice` more after each frame, until it is `total`. */
export function useGrowing(total: number, { first, slice }: Growth): number {
  const [drawn, setDrawn] = useState(first)
  useEffect(() => {
    if (drawn >= total) return
    const frame = requestAnimationFrame(() => setDrawn(drawn + slice))
    return () => cancelAnimationFrame(frame)
  }, [drawn, total])
  return Math.min(drawn, total)
}
