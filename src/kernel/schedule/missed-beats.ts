/**
 * Missed beats: decides which past beats are still fired, and when a beat fires within its jitter. Pure.
 * Must not know: the clock; callers pass the time.
 */

import { createHash } from 'node:crypto'
import { assertNever } from '../../domain/error.ts'
import type { MissedPolicy, OverrunPolicy } from '../../domain/schedule.ts'
import type { Schedule } from './schedule.ts'

/** At most this many missed beats are counted or fired, however long no process ran. */
export const MAX_LATE_BEATS = 1000

/** How the beats of a schedule are handled. */
export interface TickPolicy {
  /** Id of the schedule; the jitter is derived from it. */
  readonly id: string
  readonly jitter: number
  readonly missed: MissedPolicy
  readonly overrun: OverrunPolicy
}

export interface LateBeats {
  /** Beats to fire now, oldest first. */
  readonly fire: readonly number[]
  readonly dropped: number
  /** Every beat up to this instant is decided. */
  readonly decidedUpTo: number
}

/** A beat that is later than this counts as missed. */
export const ON_TIME_MS = 60_000

/**
 * Decides for every beat after `over` that is past by `now`: fire or drop. `why` they are late: no process was running
 * (`missed`), or the beat before took too long (`overrun`).
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

/** Contract: the newest instants in (after, until], oldest first, at most MANY; cost does not depend on the range. */
export function newestInstants(schedule: Schedule, after: number, until: number): readonly number[] {
  for (let span = 1000; ; span *= 2) {
    const from = Math.max(after, until - span)
    const found: number[] = []
    for (let due = schedule.next(from); due !== undefined && due <= until; due = schedule.next(due)) found.push(due)
    if (found.length >= MAX_LATE_BEATS || from === after) return found.slice(-MAX_LATE_BEATS)
  }
}

/** When a beat fires: within its jitter and before the next beat; the same after a restart and on every machine. */
export function fireTime(schedule: Schedule, id: string, jitter: number, due: number): number {
  if (jitter === 0) return due
  const interval = (schedule.next(due) ?? Number.POSITIVE_INFINITY) - due
  return due + Math.floor(hashToFraction(`${id}@${due}`) * Math.min(jitter, interval))
}

/** In [0, 1). */
function hashToFraction(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6) / 2 ** 48
}

/** The first beat after `over` that fires at or after `now`; undefined if there is none. */
export function nextBeatToFire(
  schedule: Schedule,
  { id, jitter }: Pick<TickPolicy, 'id' | 'jitter'>,
  over: number,
  now: number,
): { readonly due: number; readonly fires: number } | undefined {
  // A beat whose time has come may still be waiting for its jitter.
  let due = schedule.next(Math.max(over, now - jitter - 1))
  while (due !== undefined) {
    const fires = fireTime(schedule, id, jitter, due)
    if (fires >= now) return { due, fires }
    due = schedule.next(due)
  }
  return undefined
}
