/**
 * Notes of the last commits, in a small file beside the database: SQLite drops the end of a damaged log without a word, and only what
 * lies elsewhere can tell that something was there.
 *
 * A note is written after its commit is on disk, in the same turn of the event loop, and never synced: after a kill or a power cut the notes
 * may be behind the database, but not ahead of it. A note that cannot be written is not worth a commit: then there are none until the next start.
 */

import { closeSync, constants, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { LostCommits } from '../../../domain/lost-commits.ts'
import type { Outcome } from '../../../ports/store.ts'
import type { Written, WrittenBatch } from './encode.ts'

/** Where a database stands: it has passed another that is smaller by `count`, or as large and smaller by `entry`. */
export interface Position {
  /** Of the database; a new one has another. */
  readonly id: string
  /** Commits that the journal does not tell of. */
  readonly count: number
  /** The journal's last entry. */
  readonly entry: number
}

/** What a commit has moved. `count` is there where it was raised. */
export interface MovedPosition {
  readonly count?: number
  readonly entry: number
}

/** What a commit was about. */
interface Touched {
  readonly records: number
  readonly sessions: readonly string[]
}

interface Note extends Position, Touched {}

/** Within a page of the disk's cache, so that a note is there as a whole or not at all. */
const SLOT_BYTES = 256
/** More commits than a log holds before it is folded into the database. */
const SLOTS = 512
const CHECK_CHARS = 8
/** Between the checksum and its space, and the end of the line. */
const TEXT_CHARS = SLOT_BYTES - CHECK_CHARS - 2

export const notesFile = (database: string): string => `${database}-commits`

export class CommitNotes {
  readonly #file: string
  #at: Position
  #handle: number | undefined
  #next: number
  #isOver = false
  #waiting: {
    readonly at: Position
    readonly batches: readonly WrittenBatch[]
    readonly outcomes: readonly Outcome[]
  }[] = []

  /** `at`: where the database stands. */
  constructor(database: string, at: Position) {
    this.#file = notesFile(database)
    this.#at = at
    const slots = readSlots(this.#file)
    this.#next = slots.indexOf(latestOf(slots)) + 1
  }

  /** Contract: what was noted of this database and is not in it. */
  lost(): LostCommits | undefined {
    const notes = readSlots(this.#file).flatMap((note) => (note && isBeyond(note, this.#at) ? [note] : []))
    const last = latestOf(notes)
    if (!last) return undefined
    return {
      commits: notes.length,
      records: notes.reduce((sum, { records }) => sum + records, 0),
      sessions: [...new Set(notes.flatMap(({ sessions }) => sessions))],
      at_least: notes.length === SLOTS || last.id !== this.#at.id,
      up_to: [last.count, last.entry],
    }
  }

  /** Contract: never throws. Written with the others of this turn of the event loop. */
  add(
    { count = this.#at.count, entry }: MovedPosition,
    batches: readonly WrittenBatch[],
    outcomes: readonly Outcome[],
  ): void {
    this.#at = { id: this.#at.id, count, entry }
    this.#waiting.push({ at: this.#at, batches, outcomes })
    if (this.#waiting.length === 1) setImmediate(() => this.#flush())
  }

  #flush(): void {
    const waiting = this.#waiting
    this.#waiting = []
    if (this.#isOver || waiting.length === 0) return
    try {
      this.#handle ??= openSync(this.#file, constants.O_RDWR | constants.O_CREAT, 0o600)
      const slots = waiting.map(({ at, batches, outcomes }) => slotOf(at, touchedBy(batches, outcomes)))
      while (slots.length > 0) {
        const from = this.#next % SLOTS
        const together = slots.splice(0, SLOTS - from)
        writeSync(this.#handle, together.join(''), from * SLOT_BYTES, 'latin1')
        this.#next += together.length
      }
    } catch {
      this.#isOver = true
    }
  }

  /** Contract: on disk when it returns. What is gone was told. */
  forget(): void {
    const handle = openSync(this.#file, constants.O_RDWR | constants.O_CREAT, 0o600)
    try {
      ftruncateSync(handle)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    this.#next = 0
  }

  close(): void {
    this.#flush()
    if (this.#handle !== undefined) closeSync(this.#handle)
    this.#handle = undefined
    this.#isOver = true
  }
}

/** A line of so many ASCII characters, with its checksum in front. */
function slotOf({ id, count, entry }: Position, { records, sessions }: Touched): string {
  let text = `${id} ${count} ${entry} ${records}`
  for (const session of sessions) {
    const longer = `${text} ${encodeURIComponent(session)}`
    if (longer.length > TEXT_CHARS) break
    text = longer
  }
  const padded = text.padEnd(TEXT_CHARS)
  return `${checkOf(padded)} ${padded}\n`
}

const checkOf = (text: string): string => crc32(text).toString(16).padStart(CHECK_CHARS, '0')

/** Those of another database are gone as a whole: a fresh one was made where nothing was left of it, or somebody put this one there. */
function isBeyond(note: Position, at: Position): boolean {
  return note.id !== at.id || note.count > at.count || (note.count === at.count && note.entry > at.entry)
}

function latestOf(notes: readonly (Note | undefined)[]): Note | undefined {
  return notes
    .filter((note) => note !== undefined)
    .toSorted((a, b) => a.count - b.count || a.entry - b.entry)
    .at(-1)
}

/** By their places; undefined where nothing was written, or not as a whole. */
function readSlots(file: string): readonly (Note | undefined)[] {
  let text: string
  try {
    text = readFileSync(file, 'latin1')
  } catch {
    return []
  }
  return Array.from({ length: Math.floor(text.length / SLOT_BYTES) }, (_, i) =>
    noteIn(text.slice(i * SLOT_BYTES, (i + 1) * SLOT_BYTES)),
  )
}

function noteIn(slot: string): Note | undefined {
  const text = slot.slice(CHECK_CHARS + 1, -1)
  if (slot.slice(0, CHECK_CHARS) !== checkOf(text)) return undefined
  const [id = '', count, entry, records, ...sessions] = text.trimEnd().split(' ')
  const numbers = { count: Number(count), entry: Number(entry), records: Number(records) }
  return { id, ...numbers, sessions: sessions.map(decodeURIComponent) }
}

function touchedBy(batches: readonly WrittenBatch[], outcomes: readonly Outcome[]): Touched {
  const sessions: string[] = []
  let records = 0
  for (let i = 0; i < batches.length; i += 1)
    if (outcomes[i]?.ok)
      for (const op of batches[i]?.ops ?? []) {
        if (op.op === 'append') records += op.count
        for (const session of sessionsOf(op)) if (!sessions.includes(session)) sessions.push(session)
      }
  return { records, sessions }
}

function sessionsOf(op: Written): readonly string[] {
  if (op.op === 'enqueue') return op.dispatches.map(({ session_id }) => session_id)
  return 'session_id' in op && typeof op.session_id === 'string' ? [op.session_id] : []
}
