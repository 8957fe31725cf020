/**
 * The source `timer`: publishes an event at each beat of a schedule.
 * Must not know: who listens, what the event starts.
 * Invariants: no instant is published twice; beats that were missed while no process ran are published once.
 */

import { CLEAN_LABEL } from '../../domain/label.ts'
import type { ScheduleSpec } from '../../domain/schedule.ts'
import { type Clock, iso } from '../../ports/clock.ts'
import type { Source, SourceSink } from '../../ports/source.ts'
import { parseSchedule } from '../schedule/schedule.ts'
import { ticks } from '../schedule/ticks.ts'

interface TimerOptions {
  readonly name: string
  readonly spec: ScheduleSpec
  readonly timezone: string
  readonly event: string
  readonly clock: Clock
}

export function timerSource({ name, spec, timezone, event, clock }: TimerOptions): Source {
  return {
    ...{ name, type: 'timer' },
    async run(sink, signal) {
      const schedule = parseSchedule(spec, timezone)
      const key = JSON.stringify([spec, timezone])
      const last = await firstInstant(sink, key, clock.now())
      const policy = { id: `source:${name}`, jitter: 0, missed: 'once', overrun: 'skip' } as const
      for await (const { due, missed, skipped } of ticks(schedule, policy, clock, signal, last)) {
        const payload = { due: iso(due), missed: missed + skipped }
        await sink.publish({
          ...{ id: String(due), observation: { type: 'system_event', name: event, payload } },
          // The text is the program's own.
          ...{ label: CLEAN_LABEL, mark: { key, until: due } },
        })
      }
    },
  }
}

/** The instant up to which no beat fires. A changed schedule begins anew. */
async function firstInstant(sink: SourceSink, key: string, now: number): Promise<number> {
  const mark = (await sink.mark()) as { readonly key?: unknown; readonly until?: unknown } | null
  if (typeof mark === 'object' && mark?.key === key && typeof mark.until === 'number') return mark.until
  await sink.saveMark({ key, until: now })
  return now
}
