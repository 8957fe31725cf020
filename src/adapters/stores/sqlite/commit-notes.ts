/**
 * Notes of the latest commits in a small file next to the database. SQLite silently drops the end of a damaged WAL; the
 * notes reveal such a loss.
 *
 * A note is written after its commit is on disk, in the same turn of the event loop, without fsync. So after a kill or
 * a power cut the notes may be behind the database, never ahead. If a note cannot be written, notes stop until the next
 * start.
 */

import { closeSync, constants, fsyncSync, ftruncateSync, openSync, readFileSync, statSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { TirelessError } from '../../../domain/error.ts'
import type { LostCommits } from '../../../domain/lost-commits.ts'
import { writeAll } from '../../../files/whole-files.ts'
import type { BatchOutcome } from '../../../ports/store.ts'
import type { EncodedBatch, EncodedOp } from '../encode-batch.ts'

/**
 * The progress of a database: each commit raises `count` or `entry`. Positions are ordered by `count`, then by `entry`.
 */
export interface CommitPosition {
  /** Random id of the database. */
  readonly id: string
  /** Number of commits without a journal entry. */
  readonly count: number
  /** The last entry of the journal. */
  readonly entry: number
}

/** The position after a commit; `count` is set only if this commit raised it. */
export interface NewPosition {
  readonly count?: number
  readonly entry: number
}

/** What a commit contains: the number of its records, and the ids of its sessions. */
interface CommitContent {
  readonly records: number
  readonly sessions: readonly string[]
}

interface Note extends CommitPosition, CommitContent {}

/** A slot of this size never crosses a page of the disk cache, so a note is written completely or not at all. */
const SLOT_BYTES = 256
/** Number of notes kept: more than the commits in a WAL before a checkpoint. */
const SLOTS = 512
const CHECK_CHARS = 8
/** Length of the text in a slot, without checksum, space and line break. */
const TEXT_CHARS = SLOT_BYTES - CHECK_CHARS - 2

const commitNotesFile = (database: string): string => `${database}-commits`

export class CommitNotes {
  readonly #file: string
  #at: CommitPosition
  #handle: number | undefined
  #next: number
  #isOver = false
  #waiting: {
    readonly at: CommitPosition
    readonly batches: readonly EncodedBatch[]
    readonly outcomes: readonly BatchOutcome[]
  }[] = []

  /** `at`: the current position of the database. */
  constructor(database: string, at: CommitPosition) {
    this.#file = commitNotesFile(database)
    this.#at = at
    refuseOtherKinds(this.#file)
    const slots = readSlots(this.#file)
    this.#next = slots.indexOf(findLatest(slots)) + 1
  }

  /** Contract: the commits that have a note but are missing in the database; undefined if there are none. */
  findLost(): LostCommits | undefined {
    const notes = readSlots(this.#file).flatMap((note) => (note && isAhead(note, this.#at) ? [note] : []))
    const last = findLatest(notes)
    if (!last) return undefined
    return {
      commits: notes.length,
      records: notes.reduce((sum, { records }) => sum + records, 0),
      sessions: [...new Set(notes.flatMap(({ sessions }) => sessions))],
      at_least: notes.length === SLOTS || last.id !== this.#at.id,
      up_to: [last.count, last.entry],
    }
  }

  /** Contract: never throws. Notes of one turn of the event loop are written together. */
  add(
    { count = this.#at.count, entry }: NewPosition,
    batches: readonly EncodedBatch[],
    outcomes: readonly BatchOutcome[],
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
      const slots = waiting.map(({ at, batches, outcomes }) => formatSlot(at, summarizeCommit(batches, outcomes)))
      while (slots.length > 0) {
        const from = this.#next % SLOTS
        const chunk = slots.splice(0, SLOTS - from)
        writeAll(this.#handle, chunk.join(''), from * SLOT_BYTES)
        this.#next += chunk.length
      }
    } catch {
      this.#isOver = true
    }
  }

  /** Contract: deletes all notes, on disk when this returns. Call it once the loss is recorded. */
  clear(): void {
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

/** Without notes, losses would go unnoticed; and reading a pipe may never end. */
function refuseOtherKinds(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw new TirelessError('store_failed', {
      ...{ what: 'the notes of the last commits are not a regular file', where: file },
      fix: 'move it away; the next start creates the file',
    })
}

/** A line of SLOT_BYTES ASCII characters that starts with its checksum. */
function formatSlot({ id, count, entry }: CommitPosition, { records, sessions }: CommitContent): string {
  let text = `${id} ${count} ${entry} ${records}`
  for (const session of sessions) {
    const longer = `${text} ${encodeURIComponent(session)}`
    if (longer.length > TEXT_CHARS) break
    text = longer
  }
  const padded = text.padEnd(TEXT_CHARS)
  return `${checksumOf(padded)} ${padded}\n`
}

const checksumOf = (text: string): string => crc32(text).toString(16).padStart(CHECK_CHARS, '0')

/** Notes of another database all count as lost: the database was recreated or replaced. */
function isAhead(note: CommitPosition, at: CommitPosition): boolean {
  return note.id !== at.id || note.count > at.count || (note.count === at.count && note.entry > at.entry)
}

function findLatest(notes: readonly (Note | undefined)[]): Note | undefined {
  return notes
    .filter((note) => note !== undefined)
    .toSorted((a, b) => a.count - b.count || a.entry - b.entry)
    .at(-1)
}

/** Notes by slot; undefined for an empty or incomplete slot. */
function readSlots(file: string): readonly (Note | undefined)[] {
  let text: string
  try {
    text = readFileSync(file, 'latin1')
  } catch {
    return []
  }
  return Array.from({ length: Math.floor(text.length / SLOT_BYTES) }, (_, i) =>
    parseSlot(text.slice(i * SLOT_BYTES, (i + 1) * SLOT_BYTES)),
  )
}

function parseSlot(slot: string): Note | undefined {
  const text = slot.slice(CHECK_CHARS + 1, -1)
  if (slot.slice(0, CHECK_CHARS) !== checksumOf(text)) return undefined
  const [id = '', count, entry, records, ...sessions] = text.trimEnd().split(' ')
  const numbers = { count: Number(count), entry: Number(entry), records: Number(records) }
  return { id, ...numbers, sessions: sessions.map(decodeURIComponent) }
}

function summarizeCommit(batches: readonly EncodedBatch[], outcomes: readonly BatchOutcome[]): CommitContent {
  const sessions: string[] = []
  let records = 0
  for (let i = 0; i < batches.length; i += 1)
    if (outcomes[i]?.ok)
      for (const op of batches[i]?.ops ?? []) {
        if (op.op === 'append') records += op.count
        for (const session of listSessions(op)) if (!sessions.includes(session)) sessions.push(session)
      }
  return { records, sessions }
}

function listSessions(op: EncodedOp): readonly string[] {
  if (op.op === 'enqueue') return op.dispatches.map(({ session_id }) => session_id)
  return 'session_id' in op && typeof op.session_id === 'string' ? [op.session_id] : []
}
