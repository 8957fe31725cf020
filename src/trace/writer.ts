/**
 * Writes the traces of all runs in batches, redacted. A full disk or an unwritable folder never fails a run (I9). The
 * journal is authoritative: if a run is resumed after a restart, its files are written anew from the journal.
 */

import { join } from 'node:path'
import { type JournalRecord, recordsOfRun } from '../domain/journal-record.ts'
import type { Clock } from '../ports/clock.ts'
import { startTimer } from '../ports/deadline.ts'
import type { RunRef, RunSink } from '../ports/run-sink.ts'
import type { RedactedRecords } from './redacted-records.ts'
import { createTraceFold, type TraceFold } from './trace.ts'
import {
  createTraceFolder,
  isRunId,
  type LineBuffer,
  lineBufferFor,
  TRACE_FILES,
  traceFolder,
  writeTraceManifest,
} from './trace-files.ts'

const WRITE_EVERY_MS = 1000
const RETRY_EVERY_MS = 5000
/** How many records of a run's history are processed at once: a few milliseconds of work. */
const RECORDS_AT_ONCE = 50
/** The most runs kept in memory, parked ones included. */
const MAX_OPEN = 256
/** The most characters kept in memory for all runs together, while writing fails. */
const MAX_PENDING = 32 * 1024 * 1024

export interface TraceWriter extends RunSink {
  /** Contract: writes everything that is pending. */
  close(): void
}

interface OpenTrace {
  readonly folder: string
  readonly fold: TraceFold
  readonly events: LineBuffer
  readonly steps: LineBuffer
  /** Records not processed yet. */
  readonly records: JournalRecord[]
  /** The sequence number of the last record received. */
  last: number
  isWritten: boolean
  /** True: the run is parked, so its trace may be dropped from memory. */
  isParked: boolean
  hasEnded: boolean
}

export interface WriterOptions {
  /** The folder that holds one folder per run. */
  readonly folder: string
  readonly clock: Clock
  readonly records: RedactedRecords
  readonly maxPending?: number
}

export const traceWriter = (options: WriterOptions): TraceWriter => new BatchedTraceWriter(options)

class BatchedTraceWriter implements TraceWriter {
  readonly #options: WriterOptions
  readonly #runs = new Map<string, OpenTrace>()
  #isClosed = false
  /** Stops the timer of the next write; undefined if none is scheduled. */
  #stopTimer: (() => void) | undefined

  constructor(options: WriterOptions) {
    this.#options = options
  }

  onRunOpened(run: RunRef, past: readonly JournalRecord[]): void {
    if (!isRunId(run.run_id)) return
    const records = recordsOfRun(past, run.run_id)
    // The run is still in memory from before it was parked: its files are up to date.
    if (records.length === 0 || this.#runs.get(run.run_id)?.last === records.at(-1)?.seq) return
    const open = this.#openTrace(run)
    addRecords(open, records)
    setImmediate(() => this.#catchUp(open))
    this.#scheduleWrite(WRITE_EVERY_MS)
  }

  onRecord(run: RunRef, record: JournalRecord): void {
    // A record before `run_started` belongs to the end of the session's previous run.
    const begins = record.kind === 'run_started' && isRunId(run.run_id)
    const open = this.#runs.get(run.run_id) ?? (begins ? this.#openTrace(run) : undefined)
    if (!open) return
    noteLast(open, record)
    // The record is processed immediately, to spread the work: many runs may end at the same time.
    if (open.records.length > 0) open.records.push(record)
    else this.#foldRecord(open, record)
    open.isParked = record.kind === 'step_committed' && record.next.kind === 'park'
    // The files are written immediately: observers who learn of the end expect to find it there.
    if (open.hasEnded || open.isParked) this.#write(run.run_id, open, true)
    else this.#scheduleWrite(WRITE_EVERY_MS)
  }

  onRunClosed(): void {}

  delta(): void {}

  close(): void {
    this.#isClosed = true
    this.#stopTimer?.()
    for (const [run_id, open] of [...this.#runs]) this.#write(run_id, open, open.isParked)
  }

  #openTrace(run: RunRef): OpenTrace {
    const open = newTrace(traceFolder(this.#options.folder, run.run_id), run)
    this.#runs.set(run.run_id, open)
    return open
  }

  #scheduleWrite(ms: number): void {
    if (this.#stopTimer || this.#isClosed) return
    this.#stopTimer = startTimer(this.#options.clock, ms, () => {
      this.#stopTimer = undefined
      this.#writeAll([...this.#runs.keys()])
    })
  }

  /** Writes one run per turn of the event loop, because creating files takes longest. */
  #writeAll(due: string[]): void {
    if (this.#isClosed) return
    const run_id = due.shift()
    const open = run_id === undefined ? undefined : this.#runs.get(run_id)
    if (run_id !== undefined && open) this.#write(run_id, open)
    if (due.length > 0) setImmediate(() => this.#writeAll(due))
  }

  /**
   * A run may be parked for weeks, so only MAX_OPEN runs stay in memory; the files of the others are written anew when
   * they are resumed.
   */
  #dropParked(): void {
    for (const [run_id, open] of this.#runs) {
      if (this.#runs.size <= MAX_OPEN) return
      if (open.isParked) this.#runs.delete(run_id)
    }
  }

  #write(run_id: string, open: OpenTrace, whole = false): void {
    const { maxPending = MAX_PENDING } = this.#options
    const isNew = !open.isWritten
    this.#fold(open)
    try {
      if (isNew) createTraceFolder(open.folder)
      open.events.write()
      open.steps.write()
      if (isNew || whole || open.hasEnded) writeTraceManifest(open.folder, open.fold.manifest())
      open.isWritten = true
      if (open.hasEnded) this.#runs.delete(run_id)
      if (open.isParked) this.#dropParked()
    } catch {
      if (pendingIn(this.#runs) > maxPending) this.#runs.delete(run_id)
      this.#scheduleWrite(RETRY_EVERY_MS)
    }
  }

  /**
   * A run left by an earlier process may have a long history. It is processed in pieces, so that other work can run in
   * between.
   */
  #catchUp(open: OpenTrace): void {
    this.#fold(open, RECORDS_AT_ONCE)
    if (open.records.length > 0 && !this.#isClosed) setImmediate(() => this.#catchUp(open))
  }

  #fold(open: OpenTrace, most = open.records.length): void {
    for (const record of open.records.splice(0, most)) this.#foldRecord(open, record)
  }

  #foldRecord(open: OpenTrace, record: JournalRecord): void {
    const { records } = this.#options
    const { events, steps } = open.fold.apply(records.redacted(record))
    for (const line of records.linesOf(record, events)) open.events.add(line)
    for (const step of steps) open.steps.add(JSON.stringify(step))
  }
}

const newTrace = (folder: string, run: RunRef): OpenTrace => ({
  folder,
  fold: createTraceFold(run),
  events: lineBufferFor(join(folder, TRACE_FILES.events)),
  steps: lineBufferFor(join(folder, TRACE_FILES.steps)),
  records: [],
  last: 0,
  isWritten: false,
  isParked: false,
  hasEnded: false,
})

function addRecords(open: OpenTrace, records: readonly JournalRecord[]): void {
  const last = records.at(-1)
  if (!last) return
  for (const record of records) open.records.push(record)
  noteLast(open, last)
}

function noteLast(open: OpenTrace, last: JournalRecord): void {
  open.last = last.seq
  open.hasEnded = last.kind === 'run_ended'
}

function pendingIn(runs: ReadonlyMap<string, OpenTrace>): number {
  return [...runs.values()].reduce((sum, { events, steps }) => sum + events.pending + steps.pending, 0)
}
