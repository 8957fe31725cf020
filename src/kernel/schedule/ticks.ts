/**
 * Ticks: waits for the beats of a schedule and yields them one at a time.
 * Must not know: what a beat triggers.
 * Invariants: I5 (beats of one schedule never overlap: the next beat is computed when the consumer asks for it); each
 * instant is yielded at most once and in order, whatever the wall clock does; an instant that is not yielded is counted
 * in a later beat.
 */

import type { Clock } from '../../ports/clock.ts'
import { fireTime, ON_TIME_MS, selectLateBeats, type TickPolicy } from './missed-beats.ts'
import type { Schedule } from './schedule.ts'

/** A long wait is split, because the wall clock may jump and the machine may sleep. */
const MAX_SLEEP_MS = 30_000

export interface Beat {
  /** The scheduled instant. Together with the schedule's id it identifies the beat. */
  readonly due: number
  /** The instant at which the beat was yielded. */
  readonly at: number
  /** Number of beats dropped before this one: `missed` while no process ran, `skipped` during work on another beat. */
  readonly missed: number
  readonly skipped: number
}

/**
 * Contract: yields only beats after `last`. Ends when `signal` aborts or no beat is left; never rejects. The consumer
 * may pass to `next` the instant since which it was free; beats that were due after that instant are not overruns.
 */
export async function* ticks(
  schedule: Schedule,
  policy: TickPolicy,
  clock: Clock,
  signal: AbortSignal,
  last: number,
): AsyncGenerator<Beat, void, number | undefined> {
  const dropped = { missed: 0, overrun: 0 }
  let handled = last

  const collectPast = (why: 'missed' | 'overrun', upTo = clock.now()): readonly number[] => {
    const caughtUp = selectLateBeats(schedule, policy, why, handled, upTo)
    dropped[why] += caughtUp.dropped
    handled = caughtUp.decidedUpTo
    return caughtUp.fire
  }
  const beat = (due: number): Beat => {
    const { missed, overrun: skipped } = dropped
    dropped.missed = dropped.overrun = 0
    return { due, at: clock.now(), missed, skipped }
  }

  let ready = collectPast('missed')
  for (;;) {
    // Beats that are already selected are yielded even if the clock is set back meanwhile.
    let freeSince: number | undefined
    for (const due of ready) {
      if (signal.aborted) return
      freeSince = yield beat(due)
    }
    if (ready.length > 0) {
      ready = collectPast('overrun', Math.min(freeSince ?? Number.POSITIVE_INFINITY, clock.now()))
      if (ready.length === 0) ready = collectPast('missed')
      continue
    }
    const due = schedule.next(handled)
    if (due === undefined) return
    const waited = await waitUntil(fireTime(schedule, policy.id, policy.jitter, due), clock, signal)
    if (waited === 'stopped') return
    if (waited === 'absent') ready = collectPast('missed')
    else {
      ready = [due]
      handled = due
    }
  }
}

/** `absent`: the wait ended long after the instant, because the machine slept or the clock was set forward. */
async function waitUntil(instant: number, clock: Clock, signal: AbortSignal): Promise<'there' | 'absent' | 'stopped'> {
  let left = instant - clock.now()
  if (left <= 0) return 'there'
  while (left > 0) {
    await clock.sleep(Math.min(left, MAX_SLEEP_MS), signal)
    if (signal.aborted) return 'stopped'
    left = instant - clock.now()
  }
  return left < -ON_TIME_MS ? 'absent' : 'there'
}

/**
 * Contract: resolves when the wall clock reaches `instant`, when as much time as was left at the call has passed, or
 * when `signal` aborts.
 */
export async function waitForInstant(instant: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const end = clock.monotonic() + (instant - clock.now())
  for (;;) {
    const left = Math.min(instant - clock.now(), end - clock.monotonic())
    if (left <= 0 || signal.aborted) return
    await clock.sleep(Math.min(left, MAX_SLEEP_MS), signal)
  }
}
