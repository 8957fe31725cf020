/** The state of a replay: its place, its speed, and whether it plays. */

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Timeline } from './timeline.ts'

export const SPEEDS = [1, 2, 5, 20] as const
export type Speed = (typeof SPEEDS)[number]

export interface Replay {
  /** Milliseconds from the start; the length of the timeline: everything is shown. */
  readonly at: number
  readonly isPlaying: boolean
  readonly speed: Speed
  toggle(): void
  seek(at: number): void
  setSpeed(speed: Speed): void
}

/** Contract: a replay of the timeline, which stands at its end until it is played. */
export function useReplay({ length }: Timeline): Replay {
  const [place, setPlace] = useState<number | null>(null)
  const [isPlaying, setPlaying] = useState(false)
  const [speed, setSpeed] = useState<Speed>(1)
  const at = Math.min(place ?? length, length)
  const current = useRef(at)
  current.current = at
  useEffect(() => {
    if (!isPlaying) return
    let last = performance.now()
    let frame = 0
    const advance = (now: number): void => {
      const next = current.current + Math.max(0, now - last) * speed
      last = now
      setPlace(next >= length ? null : next)
      if (next >= length) setPlaying(false)
      else frame = requestAnimationFrame(advance)
    }
    frame = requestAnimationFrame(advance)
    return () => cancelAnimationFrame(frame)
  }, [isPlaying, speed, length])
  return {
    ...{ at, isPlaying, speed, setSpeed },
    toggle() {
      // At its end, it starts again.
      if (!isPlaying && at >= length) setPlace(0)
      setPlaying(!isPlaying)
    },
    seek(to) {
      setPlaying(false)
      setPlace(to >= length ? null : Math.max(0, to))
    },
  }
}
