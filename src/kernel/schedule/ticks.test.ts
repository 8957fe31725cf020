/** Ticks that come on time, and a consumer that is slow. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { consume, DAY, HOUR, MINUTE, NOON, SECOND } from '../../../test/support/tick-consumer.ts'
import { iso } from '../../ports/clock.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { fireTime, type TickPolicy } from './missed-beats.ts'
import { parseSchedule } from './schedule.ts'
import { type Beat, ticks } from './ticks.ts'

describe('on time', () => {
  test('E1: each beat comes once, on time, and none at the initial instant', async () => {
    const { clock, beats, dues } = consume()
    await clock.advance(35 * MINUTE)
    assert.deepEqual(dues(), [10, 20, 30])
    assert.deepEqual(
      beats().map(({ due, at }) => at - due),
      [0, 0, 0],
    )
  })

  test('case 132: a timer of 40 days fires once, on time, and then the ticks end', async () => {
    const { clock, beats, log } = consume({ spec: { at: iso(NOON + 40 * DAY) } })
    await clock.advance(40 * DAY - 1)
    assert.equal(log.beats.length, 0)
    await clock.advance(1)
    assert.deepEqual(beats(), [{ due: NOON + 40 * DAY, at: NOON + 40 * DAY, missed: 0, skipped: 0 }])
    assert.equal(log.ended, true)
    assert.equal(clock.sleeping, 0)
  })

  test('E1: with jitter a beat comes later but keeps its scheduled instant', async () => {
    const { clock, beats, dues } = consume({ jitter: 5 * MINUTE })
    await clock.advance(HOUR)
    assert.deepEqual(dues(), [10, 20, 30, 40, 50, 60].slice(0, dues().length))
    for (const { due, at } of beats())
      assert.equal(at, fireTime(parseSchedule('*/10 * * * *', 'UTC'), 'a', 5 * MINUTE, due))
    assert.ok(beats().some(({ due, at }) => at > due))
  })

  test('an abort ends the ticks at once, also during a wait', async () => {
    const { clock, stop, done, log } = consume()
    await clock.advance(10 * MINUTE)
    stop.abort()
    await done
    assert.deepEqual({ beats: log.beats.length, sleeping: clock.sleeping }, { beats: 1, sleeping: 0 })
  })
})

describe('a slow consumer', () => {
  test('I5: beats never overlap; with skip, beats due meanwhile are counted and dropped', async () => {
    const { clock, dues, dropped, log } = consume({ work: ({ due }) => (due === NOON + 10 * MINUTE ? 25 * MINUTE : 0) })
    await clock.advance(65 * MINUTE)
    assert.deepEqual(dues(), [10, 40, 50, 60])
    assert.deepEqual(dropped(), [
      [0, 0],
      [0, 2],
      [0, 0],
      [0, 0],
    ])
    assert.equal(log.atOnce, 1)
  })

  test('E1: a consumer that finishes exactly at the next beat is on time', async () => {
    const { clock, dues, dropped } = consume({ work: () => 10 * MINUTE })
    await clock.advance(40 * MINUTE)
    assert.deepEqual(dues(), [10, 20, 30, 40])
    assert.deepEqual(dropped().flat(), [0, 0, 0, 0, 0, 0, 0, 0])
  })

  test('E1: beats due after the reported free time are on time; earlier ones are dropped', async () => {
    const clock = new FakeClock({ now: NOON })
    const policy: TickPolicy = { id: 'a', jitter: 0, missed: 'skip', overrun: 'skip' }
    const beats = ticks(parseSchedule({ every: MINUTE }, 'UTC'), policy, clock, new AbortController().signal, NOON)
    const next = async (free?: number): Promise<Beat> => {
      const turn = beats.next(free)
      await clock.advance(MINUTE)
      return (await turn).value as Beat
    }
    const dues: number[][] = []
    const record = ({ due, missed, skipped }: Beat): number => dues.push([(due - NOON) / MINUTE, missed, skipped])
    record(await next())
    // Free at 12:02, and back 20 seconds later.
    await clock.advance(MINUTE + 20 * SECOND)
    record(await next(NOON + 2 * MINUTE))
    // Busy until 12:05:30, and back 40 seconds later: 12:04 and 12:05 are dropped, 12:06 is not.
    await clock.advance(3 * MINUTE - 10 * SECOND - (clock.now() - NOON - 3 * MINUTE - 20 * SECOND))
    record(await next(NOON + 5.5 * MINUTE))
    assert.deepEqual(dues, [
      [1, 0, 0],
      [2, 0, 0],
      [6, 0, 3],
    ])
  })

  for (const [missed, expected] of [
    ['skip', { due: 6, missed: 4, skipped: 0 }],
    ['once', { due: 6, missed: 4, skipped: 0 }],
    ['all', { due: 2, missed: 0, skipped: 0 }],
  ] as const)
    test(`E1: beats due while the consumer was free but absent are missed: ${missed}`, async () => {
      const clock = new FakeClock({ now: NOON })
      const policy: TickPolicy = { id: 'a', jitter: 0, missed, overrun: 'skip' }
      const beats = ticks(parseSchedule({ every: MINUTE }, 'UTC'), policy, clock, new AbortController().signal, NOON)
      const first = beats.next()
      await clock.advance(MINUTE)
      assert.equal(((await first).value as Beat).due, NOON + MINUTE)
      // Free from 12:01:30, and back at 12:06:10.
      await clock.advance(5 * MINUTE + 10 * SECOND)
      const { value } = await beats.next(NOON + 1.5 * MINUTE)
      const { due, missed: missedCount, skipped } = value as Beat
      assert.deepEqual({ due: (due - NOON) / MINUTE, missed: missedCount, skipped }, expected)
    })

  test('I5: with catch_up late beats follow at once, in order, one at a time', async () => {
    const { clock, beats, dues, dropped, log } = consume({
      overrun: 'catch_up',
      work: ({ due }) => (due === NOON + 10 * MINUTE ? 25 * MINUTE : MINUTE),
    })
    await clock.advance(51 * MINUTE)
    assert.deepEqual(dues(), [10, 20, 30, 40, 50])
    assert.deepEqual(
      beats().map(({ at }) => (at - NOON) / MINUTE),
      [10, 35, 36, 40, 50],
    )
    assert.deepEqual(dropped().flat(), Array(10).fill(0))
    assert.equal(log.atOnce, 1)
  })
})
