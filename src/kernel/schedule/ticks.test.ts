import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { ScheduleSpec } from '../../domain/schedule.ts'
import { iso } from '../../ports/clock.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { fireTime, type TickPolicy } from './missed-beats.ts'
import { parseSchedule } from './schedule.ts'
import { type Beat, ticks } from './ticks.ts'

const NOON = Date.parse('2026-01-15T12:00:00Z')
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

interface ConsumerOptions extends Partial<TickPolicy> {
  readonly spec?: ScheduleSpec
  readonly zone?: string
  readonly now?: number
  readonly last?: number
  /** Milliseconds that the consumer works on a beat. */
  readonly work?: (beat: Beat) => number
}

/** Starts a consumer and records its beats, how many ran at once, and whether the ticks ended. */
function consume({
  spec = '*/10 * * * *',
  zone = 'UTC',
  now = NOON,
  last = now,
  work = () => 0,
  ...policy
}: ConsumerOptions = {}) {
  const clock = new FakeClock({ now })
  const stop = new AbortController()
  const log = { beats: [] as Beat[], atOnce: 0, ended: false, working: 0 }
  const tickPolicy: TickPolicy = { id: 'a', jitter: 0, missed: 'once', overrun: 'skip', ...policy }
  const done = (async () => {
    for await (const beat of ticks(parseSchedule(spec, zone), tickPolicy, clock, stop.signal, last)) {
      log.beats.push(beat)
      log.working += 1
      log.atOnce = Math.max(log.atOnce, log.working)
      await clock.sleep(work(beat))
      log.working -= 1
    }
    log.ended = true
  })()
  return { clock, stop, done, ...viewsOf(log) }
}

/** Functions that read the log in its current state. */
function viewsOf(log: { readonly beats: readonly Beat[]; readonly atOnce: number; readonly ended: boolean }) {
  return {
    log,
    beats: () => log.beats,
    /** In minutes after noon. */
    dues: () => log.beats.map(({ due }) => (due - NOON) / MINUTE),
    dropped: () => log.beats.map(({ missed, skipped }) => [missed, skipped]),
  }
}

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
    assert.deepEqual([log.beats.length, clock.sleeping], [1, 0])
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
    ['skip', [6, 4, 0]],
    ['once', [6, 4, 0]],
    ['all', [2, 0, 0]],
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
      assert.deepEqual([(due - NOON) / MINUTE, missedCount, skipped], expected)
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
