/** From records to events: one fold per run that is being worked on, none for those that rest. */

import { type Event, type EventFold, eventFold } from '../domain/event.ts'
import type { JournalRecord } from '../domain/record.ts'
import type { Sink } from '../ports/sink.ts'

interface Followed {
  readonly fold: EventFold
  /** The last record that it was told of; 0: its run has not begun. */
  last: number
  /** A run that was parked may be taken up again before whoever parked it has put it down. */
  holders: number
}

export interface EventFolds extends Omit<Sink, 'delta'> {
  /** How many runs are followed. */
  following(): number
}

/** `fit`: what is done to each record before it is folded. */
export function eventFolds(
  tell: (event: Event) => void,
  fit: (record: JournalRecord) => JournalRecord = (record) => record,
): EventFolds {
  const followed = new Map<string, Followed>()
  return {
    opened(run, past) {
      const known = followed.get(run.run_id)
      const holders = (known?.holders ?? 0) + 1
      if (known?.last === lastOf(past)) known.holders = holders
      else {
        const fold = eventFold(run)
        // A fold keeps no text of a step that is committed, so only the records behind it have to be made fit: a long past is opened at once.
        const kept = past.findLastIndex(({ kind }) => kind === 'step_committed') + 1
        for (const [i, record] of past.entries()) fold.of(i < kept ? record : fit(record))
        followed.set(run.run_id, { fold, last: lastOf(past), holders })
      }
    },
    recorded(run, record) {
      const known = followed.get(run.run_id)
      // What comes before its start closes the run of somebody else.
      if (!known || (known.last === 0 && record.kind !== 'run_started')) return
      known.last = record.seq
      for (const event of known.fold.of(fit(record))) tell(event)
    },
    closed(run) {
      const known = followed.get(run.run_id)
      if (known) known.holders -= 1
      if (known?.holders === 0) followed.delete(run.run_id)
    },
    following: () => followed.size,
  }
}

const lastOf = (records: readonly JournalRecord[]): number => records.at(-1)?.seq ?? 0
