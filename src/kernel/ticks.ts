/**
 * Ticks: waits for a schedule's beats and yields them, one at a time.
 * Must not know: what a beat is for.
 * Invariants: I5 (beats of one schedule never overlap: the next is looked for when the consumer comes back); each instant is yielded at most
 * once, in order, whatever the wall clock does; an instant is yielded, or counted in a later beat, never lost.
 */

import type { Clock } from '../ports/clock.ts'
import { fireAt, makeUp, PUNCTUAL_MS, type TickPolicy } from './lateness.ts'
import type { Schedule } from './schedule.ts'

/** The wall clock may jump and the machine may sleep, so a long wait is taken in naps. */
const LONGEST_NAP_MS = 30_000

export interface Beat {
  /** The instant on the schedule: with the schedule's id, the beat's identity. */
  readonly due: number
  /** When it was yielded. */
  readonly at: number
  /** How many before it were given up because nobody was there, and because the beat before took too long. */
  readonly missed: number
  readonly skipped: number
}

/**
 * Contract: nothing up to `last` is yielded. Ends when `signal` aborts or nothing more is due; never rejects. Whoever takes a beat may say, with
 * its next call, since when it has been ready for another: what came due after that did not come while it was at work.
 */
export async function* ticks(
  schedule: Schedule,
  policy: TickPolicy,
  clock: Clock,
  signal: AbortSignal,
  last: number,
): AsyncGenerator<Beat, void, number | undefined> {
  const givenUp = { missed: 0, overrun: 0 }
  let over = last

  const lookBack = (why: 'missed' | 'overrun', upTo = clock.now()): readonly number[] => {
    const made = makeUp(schedule, policy, why, over, upTo)
    givenUp[why] += made.givenUp
    over = made.over
    return made.fire
  }
  const beat = (due: number): Beat => {
    const { missed, overrun: skipped } = givenUp
    givenUp.missed = givenUp.overrun = 0
    return { due, at: clock.now(), missed, skipped }
  }

  let ready = lookBack('missed')
  for (;;) {
    // Decided on, they wait for no clock that is put back meanwhile.
    let free: number | undefined
    for (const due of ready) {
      if (signal.aborted) return
      free = yield beat(due)
    }
    if (ready.length > 0) {
      ready = lookBack('overrun', Math.min(free ?? Number.POSITIVE_INFINITY, clock.now()))
      if (ready.length === 0) ready = lookBack('missed')
      continue
    }
    const due = schedule.next(over)
    if (due === undefined) return
    const waited = await waitUntil(fireAt(schedule, policy.id, policy.jitter, due), clock, signal)
    if (waited === 'stopped') return
    if (waited === 'absent') ready = lookBack('missed')
    else {
      ready = [due]
      over = due
    }
  }
}

/** `absent`: it is long past, and was still to come when the wait began. */
async function waitUntil(instant: number, clock: Clock, signal: AbortSignal): Promise<'there' | 'absent' | 'stopped'> {
  let left = instant - clock.now()
  if (left <= 0) return 'there'
  while (left > 0) {
    await clock.sleep(Math.min(left, LONGEST_NAP_MS), signal)
    if (signal.aborted) return 'stopped'
    left = instant - clock.now()
  }
  return left < -PUNCTUAL_MS ? 'absent' : 'there'
}

/** Contract: resolves when the wall clock has come to `instant`, when as much time has passed as that was away, or when `signal` aborts. */
export async function reach(instant: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const end = clock.monotonic() + (instant - clock.now())
  for (;;) {
    const left = Math.min(instant - clock.now(), end - clock.monotonic())
    if (left <= 0 || signal.aborted) return
    await clock.sleep(Math.min(left, LONGEST_NAP_MS), signal)
  }
}
