/**
 * Lateness: which beats that are over are made up for, and when within its jitter a beat is. Pure.
 * Must not know: the clock. Whoever asks says what time it is.
 */

import { createHash } from 'node:crypto'
import { assertNever } from '../domain/error.ts'
import type { Missed, Overrun } from '../domain/schedule.ts'
import type { Schedule } from './schedule.ts'

/** More than this are neither counted nor made up for, however long nobody was there. */
export const MANY = 1000

/** How a schedule's beats are kept. */
export interface TickPolicy {
  /** The schedule's, for its jitter. */
  readonly id: string
  readonly jitter: number
  readonly missed: Missed
  readonly overrun: Overrun
}

export interface MadeUp {
  /** Those that fire now, oldest first. */
  readonly fire: readonly number[]
  readonly givenUp: number
  /** Up to here everything is decided. */
  readonly over: number
}

/** Who is later than this was not there. */
export const PUNCTUAL_MS = 60_000

/**
 * Decides on every beat after `over` whose time has passed by `now`: it fires, or is given up. `why` they are late: nobody was there, or the
 * beat before took too long.
 */
export function makeUp(
  schedule: Schedule,
  policy: TickPolicy,
  why: 'missed' | 'overrun',
  over: number,
  now: number,
): MadeUp {
  const fires = (due: number): number => fireAt(schedule, policy.id, policy.jitter, due)
  const passed = newest(schedule, over, now).filter((due) => fires(due) < now)
  const last = passed.at(-1)
  if (last === undefined) return { fire: [], givenUp: 0, over }
  const isPunctual = why === 'missed' && now - fires(last) <= PUNCTUAL_MS
  const kept = Math.min(passed.length, Math.max(keptOf(policy[why]), isPunctual ? 1 : 0))
  return { fire: passed.slice(passed.length - kept), givenUp: passed.length - kept, over: last }
}

/** How many of the newest are made up for. */
export function keptOf(policy: Missed | Overrun): number {
  if (typeof policy === 'object') return Math.min(policy.all, MANY)
  switch (policy) {
    case 'skip':
      return 0
    case 'once':
      return 1
    case 'all':
    case 'catch_up':
      return MANY
    default:
      return assertNever(policy)
  }
}

/** Contract: the newest occurrences after `after` and up to `until`, oldest first, at most MANY; costs the same after a minute and after a year. */
export function newest(schedule: Schedule, after: number, until: number): readonly number[] {
  for (let span = 1000; ; span *= 2) {
    const from = Math.max(after, until - span)
    const found: number[] = []
    for (let due = schedule.next(from); due !== undefined && due <= until; due = schedule.next(due)) found.push(due)
    if (found.length >= MANY || from === after) return found.slice(-MANY)
  }
}

/** When a beat fires: within its jitter and before the next one is due; the same after a restart, and on every machine. */
export function fireAt(schedule: Schedule, id: string, jitter: number, due: number): number {
  if (jitter === 0) return due
  const room = (schedule.next(due) ?? Number.POSITIVE_INFINITY) - due
  return due + Math.floor(fraction(`${id}@${due}`) * Math.min(jitter, room))
}

/** At least 0, below 1. */
function fraction(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6) / 2 ** 48
}

/** The first beat after `over` that fires at `now` or later; undefined where none is left. */
export function comingBeat(
  schedule: Schedule,
  { id, jitter }: Pick<TickPolicy, 'id' | 'jitter'>,
  over: number,
  now: number,
): { readonly due: number; readonly fires: number } | undefined {
  // One that is due already may still wait for the end of its jitter.
  let due = schedule.next(Math.max(over, now - jitter - 1))
  while (due !== undefined) {
    const fires = fireAt(schedule, id, jitter, due)
    if (fires >= now) return { due, fires }
    due = schedule.next(due)
  }
  return undefined
}
