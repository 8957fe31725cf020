/** Consumes ticks with a fake clock. */

import type { ScheduleSpec } from '../../src/domain/schedule.ts'
import type { TickPolicy } from '../../src/kernel/schedule/missed-beats.ts'
import { parseSchedule } from '../../src/kernel/schedule/schedule.ts'
import { type Beat, ticks } from '../../src/kernel/schedule/ticks.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

export const NOON = Date.parse('2026-01-15T12:00:00Z')

export const SECOND = 1000

export const MINUTE = 60 * SECOND

export const HOUR = 60 * MINUTE

export const DAY = 24 * HOUR

interface ConsumerOptions extends Partial<TickPolicy> {
  readonly spec?: ScheduleSpec
  readonly zone?: string
  readonly now?: number
  readonly last?: number
  /** Milliseconds that the consumer works on a beat. */
  readonly work?: (beat: Beat) => number
}

/** Starts a consumer and records its beats, how many ran at once, and whether the ticks ended. */
export function consume({
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
