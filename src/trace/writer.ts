/**
 * Writes the traces of all runs in batches, redacted. A full disk or an unwritable folder never fails a run (I9). The
 * journal is authoritative: if a run is resumed after a restart, its files are written anew from the journal.
 */

import { join } from 'node:path'
import type { Event } from '../domain/event.ts'
import { type JournalRecord, recordsOfRun } from '../domain/journal-record.ts'
import { type Redact, redactValue } from '../domain/redact.ts'
import type { Clock } from '../ports/clock.ts'
import type { RunRef, RunSink } from '../ports/run-sink.ts'
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
  /** The JSON of run id and session id, the same in every event line. */
  readonly ids: string
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
  readonly redact: Redact
  readonly maxPending?: number
}

export function traceWriter({ folder, clock, redact, maxPending: mostHeld = MAX_PENDING }: WriterOptions): TraceWriter {
  const runs = new Map<string, OpenTrace>()
  const closed = new AbortController()
  let sleeping = false

  function openTrace(run: RunRef): OpenTrace {
    const own = traceFolder(folder, run.run_id)
    const open = {
      folder: own,
      ids: `"run_id":${JSON.stringify(run.run_id)},"session_id":${JSON.stringify(run.session_id)}`,
      fold: createTraceFold(run),
      events: lineBufferFor(join(own, TRACE_FILES.events)),
      steps: lineBufferFor(join(own, TRACE_FILES.steps)),
      records: [],
      last: 0,
      isWritten: false,
      isParked: false,
      hasEnded: false,
    }
    runs.set(run.run_id, open)
    return open
  }

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

  function scheduleWrite(ms: number): void {
    if (sleeping || closed.signal.aborted) return
    sleeping = true
    void clock.sleep(ms, closed.signal).then(() => {
      sleeping = false
      if (!closed.signal.aborted) writeAll()
    })
  }

  /** Writes one run per turn of the event loop, because creating files takes longest. */
  function writeAll(due = [...runs.keys()]): void {
    if (closed.signal.aborted) return
    const run_id = due.shift()
    const open = run_id === undefined ? undefined : runs.get(run_id)
    if (run_id !== undefined && open) write(run_id, open)
    if (due.length > 0) setImmediate(writeAll, due)
  }

  /**
   * A run may be parked for weeks, so only MAX_OPEN runs stay in memory; the files of the others are written anew when
   * they are resumed.
   */
  function dropParked(): void {
    for (const [run_id, open] of runs) {
      if (runs.size <= MAX_OPEN) return
      if (open.isParked) runs.delete(run_id)
    }
  }

  function write(run_id: string, open: OpenTrace, whole = false): void {
    const isNew = !open.isWritten
    fold(open)
    try {
      if (isNew) createTraceFolder(open.folder)
      open.events.write()
      open.steps.write()
      if (isNew || whole || open.hasEnded) writeTraceManifest(open.folder, open.fold.manifest())
      open.isWritten = true
      if (open.hasEnded) runs.delete(run_id)
      if (open.isParked) dropParked()
    } catch {
      if (pendingIn(runs) > mostHeld) runs.delete(run_id)
      scheduleWrite(RETRY_EVERY_MS)
    }
  }

  /**
   * A run left by an earlier process may have a long history. It is processed in pieces, so that other work can run in
   * between.
   */
  function catchUp(open: OpenTrace): void {
    fold(open, RECORDS_AT_ONCE)
    if (open.records.length > 0 && !closed.signal.aborted) setImmediate(catchUp, open)
  }

  function fold(open: OpenTrace, most = open.records.length): void {
    for (const record of open.records.splice(0, most)) foldRecord(open, record)
  }

  function foldRecord(open: OpenTrace, record: JournalRecord): void {
    const { events, steps } = open.fold.apply(redactValue(record, redact))
    for (const event of events) open.events.add(eventLine(open.ids, event))
    for (const step of steps) open.steps.add(JSON.stringify(step))
  }

  return {
    onRunOpened(run, past) {
      if (!isRunId(run.run_id)) return
      const records = recordsOfRun(past, run.run_id)
      // The run is still in memory from before it was parked: its files are up to date.
      if (records.length === 0 || runs.get(run.run_id)?.last === records.at(-1)?.seq) return
      const open = openTrace(run)
      addRecords(open, records)
      setImmediate(catchUp, open)
      scheduleWrite(WRITE_EVERY_MS)
    },
    onRecord(run, record) {
      // A record before `run_started` belongs to the end of the session's previous run.
      const begins = record.kind === 'run_started' && isRunId(run.run_id)
      const open = runs.get(run.run_id) ?? (begins ? openTrace(run) : undefined)
      if (!open) return
      noteLast(open, record)
      // The record is processed immediately, to spread the work: many runs may end at the same time.
      if (open.records.length > 0) open.records.push(record)
      else foldRecord(open, record)
      open.isParked = record.kind === 'step_committed' && record.next.kind === 'park'
      // The files are written immediately: observers who learn of the end expect to find it there.
      if (open.hasEnded || open.isParked) write(run.run_id, open, true)
      else scheduleWrite(WRITE_EVERY_MS)
    },
    onRunClosed() {},
    delta() {},
    close() {
      closed.abort()
      for (const [run_id, open] of [...runs]) write(run_id, open, open.isParked)
    },
  }
}

/**
 * Same result as JSON.stringify, but three times as fast; there are a dozen events per step, half of them without
 * payload.
 */
function eventLine(ids: string, { seq, step_id, phase, stage, ts, ok, payload, error }: Event): string {
  const payloadJson = isEmpty(payload) ? '{}' : JSON.stringify(payload)
  const failed = error === undefined ? '' : `,"error":${JSON.stringify(error)}`
  const where = `"step_id":${step_id},"phase":"${phase}","stage":"${stage}"`
  return `{"seq":${seq},${ids},${where},"ts":${ts},"ok":${ok},"payload":${payloadJson}${failed}}`
}

function isEmpty(payload: object): boolean {
  for (const _ in payload) return false
  return true
}

function pendingIn(runs: ReadonlyMap<string, OpenTrace>): number {
  return [...runs.values()].reduce((sum, { events, steps }) => sum + events.pending + steps.pending, 0)
}
