/**
 * Writes the trace of every run, in passing: in batches, redacted, and so that neither a full disk nor a folder that cannot be
 * written hurts a run (I9). The journal is what counts: a run that is taken up again has its files written anew from it.
 */

import { join } from 'node:path'
import type { Event } from '../domain/event.ts'
import { type JournalRecord, recordsOfRun } from '../domain/record.ts'
import { type Redact, redacted } from '../domain/redacted.ts'
import type { Clock } from '../ports/clock.ts'
import type { RunRef, Sink } from '../ports/sink.ts'
import { FILES, folderOf, isRunId, type Lines, linesInto, makeFolder, writeManifest } from './files.ts'
import { type TraceFold, traceFold } from './trace.ts'

const WRITE_EVERY_MS = 1000
const RETRY_EVERY_MS = 5000
/** Records of a past that are folded at a time: a few milliseconds. */
const PIECE = 50
/** Runs that are kept at hand, those that rest among them. */
const MOST_OPEN = 256
/** Characters held back, over all runs, while nothing can be written. */
const MOST_HELD = 32 * 1024 * 1024

export interface TraceWriter extends Sink {
  /** Contract: writes what is left. */
  close(): void
}

interface Open {
  readonly folder: string
  /** What every line of its events says: whose they are. */
  readonly whose: string
  readonly fold: TraceFold
  readonly events: Lines
  readonly steps: Lines
  /** Not looked at yet. */
  readonly records: JournalRecord[]
  /** The last record that it was told of. */
  last: number
  told: boolean
  /** Parked, with all that it was told of in its files. */
  rests: boolean
  ended: boolean
}

export interface WriterOptions {
  /** The folder that holds one folder per run. */
  readonly folder: string
  readonly clock: Clock
  readonly redact: Redact
  readonly mostHeld?: number
}

export function traceWriter({ folder, clock, redact, mostHeld = MOST_HELD }: WriterOptions): TraceWriter {
  const runs = new Map<string, Open>()
  const closed = new AbortController()
  let sleeping = false

  function begin(run: RunRef): Open {
    const own = folderOf(folder, run.run_id)
    const open = {
      folder: own,
      whose: `"run_id":${JSON.stringify(run.run_id)},"session_id":${JSON.stringify(run.session_id)}`,
      fold: traceFold(run),
      events: linesInto(join(own, FILES.events)),
      steps: linesInto(join(own, FILES.steps)),
      records: [],
      last: 0,
      told: false,
      rests: false,
      ended: false,
    }
    runs.set(run.run_id, open)
    return open
  }

  function take(open: Open, records: readonly JournalRecord[]): void {
    const last = records.at(-1)
    if (!last) return
    for (const record of records) open.records.push(record)
    open.last = last.seq
    open.ended = last.kind === 'run_ended'
  }

  function later(ms: number): void {
    if (sleeping || closed.signal.aborted) return
    sleeping = true
    void clock.sleep(ms, closed.signal).then(() => {
      sleeping = false
      if (!closed.signal.aborted) writeAll()
    })
  }

  /** One run after the other, others first: to make files takes longer than anything else here. */
  function writeAll(due = [...runs.keys()]): void {
    if (closed.signal.aborted) return
    const run_id = due.shift()
    const open = run_id === undefined ? undefined : runs.get(run_id)
    if (run_id !== undefined && open) write(run_id, open)
    if (due.length > 0) setImmediate(writeAll, due)
  }

  /** A run that rests may rest for weeks: only so many are kept at hand, the others are written anew when they go on. */
  function letGo(): void {
    for (const [run_id, open] of runs) {
      if (runs.size <= MOST_OPEN) return
      if (open.rests) runs.delete(run_id)
    }
  }

  function write(run_id: string, open: Open, whole = false): void {
    const isNew = !open.told
    fold(open)
    try {
      if (isNew) makeFolder(open.folder)
      open.events.write()
      open.steps.write()
      if (isNew || whole || open.ended) writeManifest(open.folder, open.fold.manifest())
      open.told = true
      if (open.ended) runs.delete(run_id)
      if (open.rests) letGo()
    } catch {
      if (heldOf(runs) > mostHeld) runs.delete(run_id)
      later(RETRY_EVERY_MS)
    }
  }

  /** A run that another life of the program has left may have a long past: others have their turn in between. */
  function catchUp(open: Open): void {
    fold(open, PIECE)
    if (open.records.length > 0 && !closed.signal.aborted) setImmediate(catchUp, open)
  }

  function fold(open: Open, most = open.records.length): void {
    for (const record of open.records.splice(0, most)) {
      const { events, steps } = open.fold.of(redacted(record, redact))
      for (const event of events) open.events.add(lineOf(open.whose, event))
      for (const step of steps) open.steps.add(JSON.stringify(step))
    }
  }

  return {
    opened(run, past) {
      if (!isRunId(run.run_id)) return
      const records = recordsOfRun(past, run.run_id)
      // Still ours, from before it was parked: the files are as they should be.
      if (records.length === 0 || runs.get(run.run_id)?.last === records.at(-1)?.seq) return
      const open = begin(run)
      take(open, records)
      setImmediate(catchUp, open)
      later(WRITE_EVERY_MS)
    },
    recorded(run, record) {
      // What comes before its start closes the run of somebody else.
      const begins = record.kind === 'run_started' && isRunId(run.run_id)
      const open = runs.get(run.run_id) ?? (begins ? begin(run) : undefined)
      if (!open) return
      const isBehind = open.records.length > 0
      take(open, [record])
      // Now and not at the end: many runs may end together.
      if (!isBehind) fold(open)
      open.rests = record.kind === 'step_committed' && record.next.kind === 'park'
      // At once: whoever is told that it is over finds it in the files.
      if (open.ended || open.rests) write(run.run_id, open, true)
      else later(WRITE_EVERY_MS)
    },
    closed() {},
    delta() {},
    close() {
      closed.abort()
      for (const [run_id, open] of [...runs]) write(run_id, open, open.rests)
    },
  }
}

/** The same as JSON.stringify, which takes three times as long for it: there are a dozen a step, and half of them say nothing more. */
function lineOf(whose: string, { seq, step_id, phase, stage, ts, ok, payload, error }: Event): string {
  const said = isEmpty(payload) ? '{}' : JSON.stringify(payload)
  const failed = error === undefined ? '' : `,"error":${JSON.stringify(error)}`
  return `{"seq":${seq},${whose},"step_id":${step_id},"phase":"${phase}","stage":"${stage}","ts":${ts},"ok":${ok},"payload":${said}${failed}}`
}

function isEmpty(payload: object): boolean {
  for (const _ in payload) return false
  return true
}

function heldOf(runs: ReadonlyMap<string, Open>): number {
  return [...runs.values()].reduce((sum, { events, steps }) => sum + events.held + steps.held, 0)
}
