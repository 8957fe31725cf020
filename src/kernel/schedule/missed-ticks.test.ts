/** Ticks that were missed, and clocks that are set. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { consume, DAY, HOUR, MINUTE, NOON, SECOND } from '../../../test/support/tick-consumer.ts'
import type { ScheduleSpec } from '../../domain/schedule.ts'
import { iso } from '../../ports/clock.ts'
import { fireTime, type TickPolicy } from './missed-beats.ts'
import { parseSchedule } from './schedule.ts'
import type { Beat } from './ticks.ts'

describe('no process was running', () => {
  const consumeAfterDowntime = (missed: TickPolicy['missed']) =>
    consume({ missed, last: NOON - 65 * MINUTE, now: NOON - 1 })

  test('E1: a first start has missed nothing', async () => {
    const { clock, dues } = consume({ missed: 'all', now: NOON, last: NOON })
    await clock.advance(9 * MINUTE)
    assert.deepEqual(dues(), [])
  })

  test('E1: missed: skip, once, all and {all: n}; each instant once, with the number of dropped beats', async () => {
    const found: unknown[] = []
    for (const missed of ['skip', 'once', 'all', { all: 2 }] as const) {
      const { clock, dues, dropped } = consumeAfterDowntime(missed)
      await clock.advance(1)
      found.push([dues(), dropped().map(([n]) => n)])
    }
    assert.deepEqual(found, [
      [[0], [6]],
      [
        [-10, 0],
        [5, 0],
      ],
      [
        [-60, -50, -40, -30, -20, -10, 0],
        [0, 0, 0, 0, 0, 0, 0],
      ],
      [
        [-20, -10, 0],
        [4, 0, 0],
      ],
    ])
  })

  test('E1: beats due while missed beats are fired follow the overrun policy', async () => {
    const { clock, dues, dropped } = consume({
      missed: 'all',
      last: NOON - 25 * MINUTE,
      now: NOON - MINUTE,
      work: () => 8 * MINUTE,
    })
    await clock.advance(30 * MINUTE)
    assert.deepEqual(dues(), [-20, -10, 20])
    assert.deepEqual(dropped().at(-1), [0, 2])
  })

  test('E1: a beat that still waits for its jitter is not missed', async () => {
    const fires = fireTime(parseSchedule('*/10 * * * *', 'UTC'), 'a', 5 * MINUTE, NOON)
    assert.ok(fires > NOON + 1)
    const { clock, beats } = consume({ missed: 'skip', jitter: 5 * MINUTE, last: NOON - 1, now: NOON + 1 })
    await clock.advance(5 * MINUTE)
    assert.deepEqual(beats(), [{ due: NOON, at: fires, missed: 0, skipped: 0 }])
  })

  test('E1: missed beats after a sleep follow the policy; less than a minute late is not missed', async () => {
    const found: unknown[] = []
    for (const [missed, wakes] of [
      ['skip', 42 * MINUTE],
      ['once', 42 * MINUTE],
      ['all', 42 * MINUTE],
      ['skip', 40 * MINUTE + 59 * SECOND],
      ['skip', 10 * MINUTE + 59 * SECOND],
    ] as const) {
      const { clock, dues, dropped } = consume({ missed })
      await clock.advance(5 * MINUTE)
      clock.setWall(NOON + wakes - 30 * SECOND)
      await clock.advance(10 * MINUTE)
      found.push([dues(), dropped().map(([n]) => n)])
    }
    assert.deepEqual(found, [
      [[50], [4]],
      [
        [40, 50],
        [3, 0],
      ],
      [
        [10, 20, 30, 40, 50],
        [0, 0, 0, 0, 0],
      ],
      [
        [40, 50],
        [3, 0],
      ],
      [
        [10, 20],
        [0, 0],
      ],
    ])
  })
})

describe('the clock is set', () => {
  /** Every instant up to the last beat fired once or was counted as dropped. */
  function assertNoneLost(beats: readonly Beat[], spec: ScheduleSpec, from: number): void {
    const schedule = parseSchedule(spec, 'UTC')
    let at = from
    for (const { due, missed, skipped } of beats) {
      for (let i = 0; i < missed + skipped + 1; i += 1) at = schedule.next(at) ?? assert.fail('no beat is due')
      assert.equal(iso(due), iso(at))
    }
  }

  for (const [what, step] of [
    ['an hour', HOUR],
    ['a day', DAY],
  ] as const)
    for (const spec of ['*/10 * * * *', '30 2 * * *', { every: 7 * MINUTE }] as const)
      test(`E1, case 102: ${JSON.stringify(spec)} keeps each beat if the clock jumps by ${what} and back`, async () => {
        for (const first of [step, -step])
          for (const missed of ['once', 'all'] as const) {
            const { clock, beats } = consume({ spec, missed })
            await clock.advance(25 * MINUTE)
            clock.setWall(clock.now() + first)
            await clock.advance(25 * MINUTE)
            clock.setWall(clock.now() - first)
            await clock.advance(26 * HOUR)
            assertNoneLost(beats(), spec, NOON)
            const due = beats().at(-1)?.due ?? 0
            const next = parseSchedule(spec, 'UTC').next(due) ?? 0
            assert.ok(next > clock.now(), `a beat is due between ${iso(due)} and ${iso(clock.now())}`)
            if (missed === 'all') assert.ok(beats().every((beat) => beat.missed === 0))
          }
      })

  test('E1: after a clock is set back, no beat comes until it reaches the old time again', async () => {
    const { clock, dues } = consume()
    await clock.advance(25 * MINUTE)
    clock.setWall(clock.now() - HOUR)
    await clock.advance(64 * MINUTE)
    assert.deepEqual(dues(), [10, 20])
    await clock.advance(MINUTE)
    assert.deepEqual(dues(), [10, 20, 30])
  })

  test('E1: missed beats are fired to the end even if the clock is set back meanwhile', async () => {
    const { clock, dues } = consume({ missed: 'all', last: NOON - 35 * MINUTE, now: NOON - MINUTE, work: () => MINUTE })
    await clock.advance(30 * SECOND)
    clock.setWall(clock.now() - DAY)
    await clock.advance(5 * MINUTE)
    assert.deepEqual(dues(), [-30, -20, -10])
  })

  test('E1: for any clock, consumer and policy, each instant fires once, in order, or is counted', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          missed: fc.constantFrom<TickPolicy['missed']>('skip', 'once', 'all', { all: 2 }),
          overrun: fc.constantFrom<TickPolicy['overrun']>('skip', 'catch_up'),
          jitter: fc.constantFrom(0, 90 * SECOND, 2 * HOUR),
          // Eight days of beats stay below the limit of counted beats.
          every: fc.integer({ min: 720, max: 3600 }).map((seconds) => seconds * SECOND),
          works: fc.array(fc.nat({ max: 1800 }), { minLength: 1, maxLength: 5 }),
        }),
        fc.array(fc.tuple(fc.nat({ max: 40 * 60 }), fc.constantFrom(0, 0, HOUR, -HOUR, DAY, -DAY, 45 * SECOND)), {
          minLength: 1,
          maxLength: 8,
        }),
        async ({ every, works, ...policy }, steps) => {
          let n = 0
          const work = (): number => (works[n++ % works.length] ?? 0) * SECOND
          const { clock, stop, done, beats, log } = consume({ spec: { every }, work, ...policy })
          for (const [seconds, jump] of steps) {
            await clock.advance(seconds * SECOND)
            clock.setWall(clock.now() + jump)
          }
          await clock.advance(HOUR)
          assertNoneLost(beats(), { every }, NOON)
          assert.ok(log.atOnce <= 1)
          stop.abort()
          await clock.advance(HOUR)
          await done
        },
      ),
      { numRuns: 150, seed: 6 },
    )
  })
})
