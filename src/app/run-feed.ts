/**
 * The runs of all processes on a shared store, for viewers. Records of this process come from its runs, those of others
 * from the journals. Each record is passed on once and in the order of its run, whichever way it comes first.
 */

import type { JournalRecord } from '../domain/journal-record.ts'
import type { RunRef, RunSink } from '../ports/run-sink.ts'

interface FedRun {
  readonly ref: RunRef
  /** The number of the last record that was passed on; 0: the run has not started. */
  last: number
  /** The number of the last record that came from the journal. */
  read: number
  /** How many runs of this process have it open. */
  holders: number
  /** Whether the viewers have it open. */
  isOpen: boolean
  hasEnded: boolean
}

const newRun = (ref: RunRef, past: readonly JournalRecord[]): FedRun => ({
  ...{ ref, last: past.at(-1)?.seq ?? 0, read: 0, holders: 0, isOpen: false, hasEnded: false },
})

export class RunFeed implements RunSink {
  readonly #sink: RunSink
  readonly #runs = new Map<string, FedRun>()
  #isFollowing = false

  /** `sink`: gets the records of all runs. */
  constructor(sink: RunSink) {
    this.#sink = sink
  }

  onRunOpened(ref: RunRef, past: readonly JournalRecord[]): void {
    const run = this.#runs.get(ref.run_id) ?? newRun(ref, past)
    this.#runs.set(ref.run_id, run)
    run.holders += 1
    this.#advance(run, past)
  }

  onRecord(ref: RunRef, record: JournalRecord): void {
    const known = this.#runs.get(ref.run_id)
    // A record before `run_started` belongs to the end of the session's previous run.
    if (known && (known.last > 0 || record.kind === 'run_started')) this.#pass(known, record)
  }

  onRunClosed({ run_id }: RunRef): void {
    const known = this.#runs.get(run_id)
    if (!known) return
    known.holders -= 1
    if (known.holders === 0) this.#close(known)
  }

  delta(delta: Parameters<RunSink['delta']>[0]): void {
    this.#sink.delta(delta)
  }

  /** From now on, records also come from the journals, until `endFollowing`. */
  beginFollowing(): void {
    this.#isFollowing = true
  }

  /** Closes the runs of other processes. Their records come from the journals again after the next `beginFollowing`. */
  endFollowing(): void {
    this.#isFollowing = false
    this.forgetOthers()
  }

  /** Call it if entries of the journals were left out. */
  forgetOthers(): void {
    for (const run_id of [...this.#runs.keys()]) this.forget(run_id)
  }

  /** Contract: the run is closed and forgotten, unless it is open in this process. */
  forget(run_id: string): void {
    const known = this.#runs.get(run_id)
    if (!known) return
    known.read = known.last
    this.#close(known)
    if (known.holders === 0) this.#runs.delete(run_id)
  }

  /** Contract: whether `addFromJournal` needs the records of the run before this one. */
  needsPast(run_id: string, { kind, seq }: JournalRecord): boolean {
    const known = this.#runs.get(run_id)
    return known ? !known.isOpen && seq > known.last : kind !== 'run_started'
  }

  /** `past`: records of the run before this one; those that were passed on already may be missing. */
  addFromJournal(ref: RunRef, record: JournalRecord, past: readonly JournalRecord[] = []): void {
    const run = this.#runs.get(ref.run_id) ?? newRun(ref, past)
    this.#runs.set(ref.run_id, run)
    run.read = record.seq
    if (record.seq > run.last) this.#advance(run, [...past, record])
    const isParked = record.kind === 'step_committed' && record.next.kind === 'park'
    if (run.hasEnded || isParked || !run.isOpen) this.#close(run)
  }

  /** Passes on what follows the last record that was passed on. */
  #advance(known: FedRun, records: readonly JournalRecord[]): void {
    if (!known.isOpen) {
      known.isOpen = true
      const before = records.filter(({ seq }) => seq <= known.last)
      this.#sink.onRunOpened(known.ref, before)
    }
    for (const record of records) this.#pass(known, record)
  }

  #pass(known: FedRun, record: JournalRecord): void {
    if (record.seq <= known.last) return
    known.last = record.seq
    known.hasEnded ||= record.kind === 'run_ended'
    this.#sink.onRecord(known.ref, record)
  }

  /** What was passed on is remembered until the run has ended and the journal has brought its end, too. */
  #close(known: FedRun): void {
    if (known.holders > 0) return
    if (known.isOpen) this.#sink.onRunClosed(known.ref)
    known.isOpen = false
    if (!this.#isFollowing || (known.hasEnded && known.read >= known.last)) this.#runs.delete(known.ref.run_id)
  }
}
