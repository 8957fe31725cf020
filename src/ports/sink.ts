/** Where a run tells what it does. Records are told after they are on disk; events and traces are made of them elsewhere. */
import type { Delta } from '../domain/event.ts'
import type { JournalRecord } from '../domain/record.ts'

export interface RunRef {
  readonly run_id: string
  readonly session_id: string
}

/** Contract for all: must not throw and must not block; whoever tells does not look at what comes of it (I9). */
export interface Sink {
  /** A run is taken up, for the first time or again; `past` is what the journal holds of it already. */
  opened(run: RunRef, past: readonly JournalRecord[]): void
  recorded(run: RunRef, record: JournalRecord): void
  /** A run is put down, once for each time that it was taken up: it is over, it rests, or somebody else has it. */
  closed(run: RunRef): void
  delta(delta: Delta): void
}

/** Contract: telling cannot fail the teller (I9): whoever is told something and breaks, at once or later, breaks alone. */
export function tell(work: () => unknown): void {
  try {
    const done = work()
    if (done instanceof Promise) done.catch(() => {})
  } catch {}
}
