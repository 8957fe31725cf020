/** Turns journal records into events. Keeps an event fold for each active run, none for parked runs. */

import type { Event } from '../domain/event.ts'
import { createEventFold, type EventFold } from '../domain/event-fold.ts'
import type { JournalRecord } from '../domain/journal-record.ts'
import type { RunSink } from '../ports/run-sink.ts'

interface ActiveRun {
  readonly fold: EventFold
  /** The sequence number of the last record applied; 0: the run has not started. */
  last: number
  /** How many owners have the run open: a parked run may be resumed before its previous owner has closed it. */
  holders: number
}

interface EventFolds extends Omit<RunSink, 'delta'> {
  /** The number of active runs. */
  activeCount(): number
  /** Contract: `seq` of the run's last event; 0 if there is none. */
  lastSeq(run_id: string): number
}

/** `emit`: gets the events of each record, if it has any. `prepare`: applied to a record before that (redaction). */
export function createRecordFolds(
  emit: (events: readonly Event[], record: JournalRecord) => void,
  prepare: (record: JournalRecord) => JournalRecord = (record) => record,
): EventFolds {
  const activeRuns = new Map<string, ActiveRun>()
  return {
    onRunOpened(run, past) {
      const known = activeRuns.get(run.run_id)
      const holders = (known?.holders ?? 0) + 1
      if (known?.last === lastOf(past)) known.holders = holders
      else {
        const fold = createEventFold(run)
        // A fold keeps no text of committed steps, so only later records are prepared: opening a run with a long
        // history stays fast.
        const kept = past.findLastIndex(({ kind }) => kind === 'step_committed') + 1
        for (const [i, record] of past.entries()) fold.apply(i < kept ? record : prepare(record))
        activeRuns.set(run.run_id, { fold, last: lastOf(past), holders })
      }
    },
    onRecord(run, record) {
      const known = activeRuns.get(run.run_id)
      // A record before `run_started` belongs to the end of the session's previous run.
      if (!known || (known.last === 0 && record.kind !== 'run_started')) return
      known.last = record.seq
      const events = known.fold.apply(prepare(record))
      if (events.length > 0) emit(events, record)
    },
    onRunClosed(run) {
      const known = activeRuns.get(run.run_id)
      if (known) known.holders -= 1
      if (known?.holders === 0) activeRuns.delete(run.run_id)
    },
    activeCount: () => activeRuns.size,
    lastSeq: (run_id) => activeRuns.get(run_id)?.fold.lastSeq() ?? 0,
  }
}

/** As `createRecordFolds`, but `emit` gets one event after the other. */
export const createEventFolds = (emit: (event: Event) => void): EventFolds =>
  createRecordFolds((events) => {
    for (const event of events) emit(event)
  })

const lastOf = (records: readonly JournalRecord[]): number => records.at(-1)?.seq ?? 0
