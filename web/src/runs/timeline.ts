/** The time of a replay: the recorded times of events, with long pauses shortened. Pure. */

import type { Event } from '../../../src/domain/event.ts'

/** A longer pause between two events takes this long in a replay. */
const MAX_PAUSE_MS = 2000

export interface Timeline {
  /** When each event is shown, in milliseconds from the start of the replay. */
  readonly times: readonly number[]
  readonly length: number
  readonly isShortened: boolean
}

export function timelineOf(events: readonly Event[]): Timeline {
  const times: number[] = []
  let at = 0
  let isShortened = false
  for (const [i, { ts }] of events.entries()) {
    const pause = Math.max(0, ts - (events[i - 1]?.ts ?? ts))
    isShortened ||= pause > MAX_PAUSE_MS
    at += Math.min(pause, MAX_PAUSE_MS)
    times.push(at)
  }
  return { times, length: at, isShortened }
}

/** Contract: how many events are shown at this time. */
export function eventsAt({ times }: Timeline, at: number): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((times[middle] ?? 0) <= at) low = middle + 1
    else high = middle
  }
  return low
}

/** Contract: the recorded time at this place of the replay; it never passes the next event. */
export function recordedTime(events: readonly Event[], { times }: Timeline, at: number): number {
  const shown = eventsAt({ times, length: 0, isShortened: false }, at)
  const [last, next] = [events[shown - 1], events[shown]]
  if (!last) return next?.ts ?? 0
  return Math.min(last.ts + at - (times[shown - 1] ?? 0), next?.ts ?? last.ts)
}

/** Contract: where each step starts and ends, by its id. */
export function placesOf(
  events: readonly Event[],
  { times }: Timeline,
): ReadonlyMap<number, readonly [number, number]> {
  const places = new Map<number, readonly [number, number]>()
  for (const [i, { step_id }] of events.entries()) {
    const at = times[i] ?? 0
    if (step_id > 0) places.set(step_id, [places.get(step_id)?.[0] ?? at, at])
  }
  return places
}
