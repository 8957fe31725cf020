/**
 * Missed beats: decides which past beats are still fired, and by how much the jitter delays a beat. Pure.
 * Must not know: the clock; callers pass the time.
 */

import { createHash } from 'node:crypto'
import { assertNever } from '../../domain/error.ts'
import type { MissedPolicy, OverrunPolicy } from '../../domain/schedule.ts'
import type { Schedule } from './schedule.ts'

/** At most this many missed beats are counted or fired, however long no process ran. */
export const MAX_LATE_BEATS = 1000

/** How late beats of a schedule are handled, and how much its beats are delayed at random. */
export interface TickPolicy {
  /** Id of the schedule; the delay of each beat is derived from it. */
  readonly id: string
  readonly jitter: number
  readonly missed: MissedPolicy
  readonly overrun: OverrunPolicy
}

interface LateBeats {
  /** Beats to fire now, oldest first. */
  readonly fire: readonly number[]
  readonly dropped: number
  /** For every beat up to this instant it is decided whether it fires. */
  readonly decidedUpTo: number
}

/** A beat that is later than this counts as missed. */
export const ON_TIME_MS = 60_000

/**
 * Decides for each beat between `over` and `now` whether it is fired or dropped. `why`: the reason why these beats are
 * late: no process was running (`missed`), or the work on the beat before took too long (`overrun`).
 */
export function selectLateBeats(
  schedule: Schedule,
  policy: TickPolicy,
  why: 'missed' | 'overrun',
  over: number,
  now: number,
): LateBeats {
  const fires = (due: number): number => fireTime(schedule, policy.id, policy.jitter, due)
  const passed = newestInstants(schedule, over, now).filter((due) => fires(due) < now)
  const last = passed.at(-1)
  if (last === undefined) return { fire: [], dropped: 0, decidedUpTo: over }
  const isPunctual = why === 'missed' && now - fires(last) <= ON_TIME_MS
  const kept = Math.min(passed.length, Math.max(maxFired(policy[why]), isPunctual ? 1 : 0))
  return { fire: passed.slice(passed.length - kept), dropped: passed.length - kept, decidedUpTo: last }
}

/** How many of the newest late beats are fired. */
export function maxFired(policy: MissedPolicy | OverrunPolicy): number {
  if (typeof policy === 'object') return Math.min(policy.all, MAX_LATE_BEATS)
  switch (policy) {
    case 'skip':
      return 0
    case 'once':
      return 1
    case 'all':
    case 'catch_up':
      return MAX_LATE_BEATS
    default:
      return assertNever(policy)
  }
}

/**
 * Contract: the newest instants after `after` and up to `until`, oldest first, at most MAX_LATE_BEATS. A long range
 * does not make it slow.
 */
export function newestInstants(schedule: Schedule, after: number, until: number): readonly number[] {
  for (let span = 1000; ; span *= 2) {
    const from = Math.max(after, until - span)
    const found: number[] = []
    for (let due = schedule.next(from); due !== undefined && due <= until; due = schedule.next(due)) found.push(due)
    if (found.length >= MAX_LATE_BEATS || from === after) return found.slice(-MAX_LATE_BEATS)
  }
}

/**
 * The instant at which a beat fires: delayed by less than `jitter` and the time to the next beat; the same after a
 * restart and on every machine.
 */
export function fireTime(schedule: Schedule, id: string, jitter: number, due: number): number {
  if (jitter === 0) return due
  const interval = (schedule.next(due) ?? Number.POSITIVE_INFINITY) - due
  return due + Math.floor(hashToFraction(`${id}@${due}`) * Math.min(jitter, interval))
}

/** A number from 0 up to, but not including, 1. */
function hashToFraction(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6) / 2 ** 48
}

/** The first beat that is due after `over` and fires at or after `now`; undefined if there is none. */
export function nextBeatToFire(
  schedule: Schedule,
  { id, jitter }: Pick<TickPolicy, 'id' | 'jitter'>,
  over: number,
  now: number,
): { readonly due: number; readonly fires: number } | undefined {
  // Starts before `now`, because a beat that is due may still wait for its random delay (jitter).
  let due = schedule.next(Math.max(over, now - jitter - 1))
  while (due !== undefined) {
    const fires = fireTime(schedule, id, jitter, due)
    if (fires >= now) return { due, fires }
    due = schedule.next(due)
  }
  return undefined
}
