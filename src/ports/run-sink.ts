/** Sink: receives the journal records of runs, after they are on disk. Events and traces are computed from them. */
import type { Delta } from '../domain/event.ts'
import type { JournalRecord } from '../domain/journal-record.ts'

export interface RunRef {
  readonly run_id: string
  readonly session_id: string
}

/** Contract for every method: must not throw or block; callers ignore errors (I9). */
export interface RunSink {
  /** A run is started or resumed; `past` holds the records already in its journal. */
  onRunOpened(run: RunRef, past: readonly JournalRecord[]): void
  onRecord(run: RunRef, record: JournalRecord): void
  /** Called once per start or resume: the run ended, parked, or was taken over by another worker. */
  onRunClosed(run: RunRef): void
  delta(delta: Delta): void
}

/** Contract: calls `work`; its error or rejection never reaches the caller (I9). */
export function notifySafely(work: () => unknown): void {
  try {
    const result = work()
    if (result instanceof Promise) result.catch(() => {})
  } catch {}
}
