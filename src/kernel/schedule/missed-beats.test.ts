import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  fireTime,
  MAX_LATE_BEATS,
  maxFired,
  newestInstants,
  nextBeatToFire,
  selectLateBeats,
  type TickPolicy,
} from './missed-beats.ts'
import { parseSchedule, type Schedule } from './schedule.ts'

const NOON = Date.parse('2026-01-15T12:00:00Z')
const MINUTE = 60_000
const DAY = 1440 * MINUTE

/** Counts the calls of `next`. */
function countCalls(schedule: Schedule): Schedule & { calls: number } {
  const counter = {
    calls: 0,
    next(after: number) {
      counter.calls += 1
      return schedule.next(after)
    },
  }
  return counter
}

test('E1: past beats are listed newest first, at most a thousand, and as fast after a year as after an hour', () => {
  const everySecond = countCalls(parseSchedule('* * * * * *', 'UTC'))
  const year = newestInstants(everySecond, NOON - 365 * DAY, NOON)
  assert.equal(year.length, MAX_LATE_BEATS)
  assert.deepEqual([year[0], year.at(-1)], [NOON - 999_000, NOON])
  assert.ok(everySecond.calls < 5 * MAX_LATE_BEATS, `${everySecond.calls} calls`)
  const daily = parseSchedule('30 2 * * *', 'UTC')
  assert.equal(newestInstants(daily, NOON - 10 * DAY, NOON).length, 10)
  assert.deepEqual(newestInstants(daily, NOON - 60 * MINUTE, NOON), [])
  // The clock was set back behind the last beat: none is past.
  assert.deepEqual(newestInstants(daily, NOON, NOON - DAY), [])
  assert.deepEqual(newestInstants(parseSchedule({ at: '2026-01-01T00:00:00Z' }, 'UTC'), 0, NOON), [
    Date.parse('2026-01-01'),
  ])
})

test('E1: beats after `after`, up to and including `until`, oldest first', () => {
  const schedule = parseSchedule('*/10 * * * *', 'UTC')
  assert.deepEqual(newestInstants(schedule, NOON - 20 * MINUTE, NOON), [NOON - 10 * MINUTE, NOON])
  assert.deepEqual(newestInstants(schedule, NOON - 20 * MINUTE - 1, NOON - 1), [NOON - 20 * MINUTE, NOON - 10 * MINUTE])
})

test('E1: how many late beats each policy fires', () => {
  assert.deepEqual((['skip', 'once', 'all', { all: 3 }, { all: 1e9 }, 'catch_up'] as const).map(maxFired), [
    0,
    1,
    MAX_LATE_BEATS,
    3,
    MAX_LATE_BEATS,
    MAX_LATE_BEATS,
  ])
})

test('E1: jitter is derived from id and instant, within its limit and before the next beat, and spread out', () => {
  const schedule = parseSchedule('*/10 * * * *', 'UTC')
  const jitterOf = (id: string, jitter: number, due: number): number => fireTime(schedule, id, jitter, due) - due
  const dues = Array.from({ length: 200 }, (_, i) => NOON + i * 10 * MINUTE)
  const all = dues.map((due) => jitterOf('a', 30_000, due))
  assert.deepEqual(
    dues.map((due) => jitterOf('a', 30_000, due)),
    all,
  )
  assert.ok(all.every((ms) => Number.isInteger(ms) && ms >= 0 && ms < 30_000))
  assert.ok(all.some((ms) => ms < 3000) && all.some((ms) => ms > 27_000))
  assert.notDeepEqual(
    dues.map((due) => jitterOf('b', 30_000, due)),
    all,
  )
  assert.ok(dues.every((due) => jitterOf('a', DAY, due) < 10 * MINUTE))
  assert.ok(dues.some((due) => jitterOf('a', DAY, due) > 9 * MINUTE))
  assert.equal(jitterOf('a', 0, NOON), 0)
  assert.equal(jitterOf('a', 1, NOON), 0)
})

test('E1: which late beats fire, by policy and by why they are late; each at most once', () => {
  const schedule = parseSchedule('*/10 * * * *', 'UTC')
  const policy: TickPolicy = { id: 'a', jitter: 0, missed: 'once', overrun: 'catch_up' }
  const since = NOON - 25 * MINUTE
  const now = NOON + 2 * MINUTE
  const [old, newer, newestOne] = [NOON - 20 * MINUTE, NOON - 10 * MINUTE, NOON]
  assert.deepEqual(selectLateBeats(schedule, policy, 'missed', since, now), {
    fire: [newestOne],
    dropped: 2,
    decidedUpTo: NOON,
  })
  assert.deepEqual(selectLateBeats(schedule, policy, 'overrun', since, now), {
    fire: [old, newer, newestOne],
    dropped: 0,
    decidedUpTo: NOON,
  })
  assert.deepEqual(selectLateBeats(schedule, { ...policy, missed: 'skip' }, 'missed', since, now), {
    fire: [],
    dropped: 3,
    decidedUpTo: NOON,
  })
  assert.deepEqual(selectLateBeats(schedule, { ...policy, missed: { all: 2 } }, 'missed', since, now).fire, [
    newer,
    newestOne,
  ])
  // Less than a minute late is not missed, but it is an overrun if the beat before took too long.
  const skip: TickPolicy = { ...policy, missed: 'skip', overrun: 'skip' }
  assert.deepEqual(selectLateBeats(schedule, skip, 'missed', since, NOON + MINUTE).fire, [NOON])
  assert.deepEqual(selectLateBeats(schedule, skip, 'overrun', since, NOON + MINUTE).fire, [])
  assert.deepEqual(selectLateBeats(schedule, policy, 'missed', NOON, now), { fire: [], dropped: 0, decidedUpTo: NOON })
  assert.deepEqual(selectLateBeats(schedule, policy, 'missed', NOON + DAY, now), {
    fire: [],
    dropped: 0,
    decidedUpTo: NOON + DAY,
  })
})

test('E1: the next beat is the first that has not fired, with and without jitter, as fast after a year', () => {
  const schedule = parseSchedule({ every: 10 * MINUTE }, 'UTC')
  for (const jitter of [0, 3 * MINUTE, 25 * MINUTE])
    for (let now = NOON; now < NOON + 30 * MINUTE; now += 7_000) {
      const over = NOON - 10 * MINUTE
      const yetToFire = Array.from({ length: 8 }, (_, n) => NOON + n * 10 * MINUTE)
        .map((due) => ({ due, fires: fireTime(schedule, 'a', jitter, due) }))
        .find(({ fires }) => fires >= now)
      assert.deepEqual(
        nextBeatToFire(schedule, { id: 'a', jitter }, over, now),
        yetToFire,
        `${jitter} at ${now - NOON}`,
      )
    }
  const everySecond = countCalls(schedule)
  assert.equal(nextBeatToFire(everySecond, { id: 'a', jitter: 0 }, NOON - 365 * DAY, NOON)?.due, NOON)
  assert.ok(everySecond.calls < 5, `${everySecond.calls} calls`)
  assert.equal(nextBeatToFire(schedule, { id: 'a', jitter: 0 }, NOON + DAY, NOON)?.due, NOON + DAY + 10 * MINUTE)
  assert.equal(
    nextBeatToFire(parseSchedule({ at: '2026-01-15T11:00:00Z' }, 'UTC'), { id: 'a', jitter: 0 }, 0, NOON),
    undefined,
  )
})
