/** What came of reading a sentence. Pure. */

import type { CalendarTime } from './calendar-time.ts'
import type { Reason } from './reasons.ts'

/** A schedule as it is written in an agent's file: cron lines separated by `;`, an interval, or an instant. */
export type WrittenSchedule = string | { readonly every: string } | { readonly at: string }

export type ScheduleReading =
  | { readonly kind: 'no_time' }
  | { readonly kind: 'unclear'; readonly why: Reason }
  | { readonly kind: 'schedule'; readonly schedule: WrittenSchedule }

export const unclear = (why: Reason): ScheduleReading => ({ kind: 'unclear', why })

/** When and where a sentence is read. */
export interface SentenceContext {
  /** The wall clock of the schedule's time zone. */
  readonly today: CalendarTime
  /** Epoch milliseconds. */
  readonly now: number
}
