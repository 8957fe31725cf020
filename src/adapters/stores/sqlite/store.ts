/**
 * The SQLite store: one file, one writer at a time, group commit.
 *
 * Batches of one turn of the event loop, and batches that arrive during a commit, share one transaction and one fsync.
 * A thread does this, so that the event loop is not blocked. A single commit is not delayed, and on a fast disk it runs
 * in the main thread, because the thread switch costs as much as the commit.
 */

import { chmodSync, closeSync, existsSync, openSync } from 'node:fs'
import type { Json } from '../../../domain/json.ts'
import { addLosses, LOST_COMMITS, type LostCommits } from '../../../domain/lost-commits.ts'
import type { Clock } from '../../../ports/clock.ts'
import { fallbackIfUnreadable, type Store } from '../../../ports/store.ts'
import { type AuditSealOptions, AuditSealWriter } from '../audit-seal.ts'
import { CommitGroups } from '../commit-groups.ts'
import type { EncodedBatch } from '../encode-batch.ts'
import { SkippedRows } from '../rows/skipped-rows.ts'
import { CommitNotes } from './commit-notes.ts'
import { hasCurrentSchema, openForWriting, openReadOnly, readPosition } from './connection.ts'
import { copyDatabase } from './copy-database.ts'
import { cacheEmptyInboxes } from './empty-inbox-cache.ts'
import { opsWithAuditKey } from './ops.ts'
import { createStoreReader, type StoreReader } from './reader.ts'
import { type AppliedGroup, createWriter, type GroupWriter, type Writer } from './writer.ts'
import { type BackgroundScan, scanInThread, startWriterThread, verifyInThread } from './writer-thread.ts'

interface SqliteOptions {
  readonly file: string
  /** Where the home is and was, for records of versions before; default: the folder of the file. */
  readonly roots?: readonly string[]
  /** Measures how long commits in the main thread take. */
  readonly clock: Pick<Clock, 'monotonic'>
  /** `here`: all writes in this thread. `thread`: all in the writer thread. Default: chosen per commit. */
  readonly writes?: 'here' | 'thread' | 'as_it_suits'
  /**
   * Files of the audit key. Without them the audit log has no key, and every program that can write the database
   * could forge it.
   */
  readonly audit?: AuditSealOptions
}

export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { file, clock, roots, writes = 'as_it_suits' } = options
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  let seal: AuditSealWriter | undefined
  const writerOptions: WriterOptions = { file, auditKey: () => seal?.key }
  const writer = chooseWriter(writes, writerOptions, clock)
  // With the current schema the writer is not opened yet: most commands only read.
  if (!hasCurrentSchema(file)) openForWriting(file, roots && { roots }).close()
  const readingDb = openReadOnly(file)
  const skipped = new SkippedRows()
  const reader = createStoreReader(readingDb, (row) => skipped.add(row))
  const notes = new CommitNotes(file, readPosition(readingDb))
  await recordLoss(notes, reader, writer)
  seal = options.audit && (await AuditSealWriter.open(options.audit, reader))
  const group = new CommitGroups({
    ...writer,
    onApplied(batches, { outcomes, position }) {
      if (position) notes.add(position, batches, outcomes)
      seal?.recordCommit(batches, outcomes)
    },
  })
  const runningScans = new Set<() => Promise<unknown>>()
  let closing: Promise<void> | undefined
  // Closes the writer last, because the last connection to close checkpoints the WAL.
  const closeAll = async (): Promise<void> => {
    await group.drain()
    // Background scans are stopped first, because they keep the file open.
    await Promise.all([...runningScans].map((stop) => stop()))
    readingDb.close()
    notes.close()
    seal?.close()
    await group.close()
  }
  const trackScan = <T>({ result: found, stop }: BackgroundScan<T>): Promise<T> => {
    runningScans.add(stop)
    return found.finally(() => runningScans.delete(stop))
  }
  return {
    ...reader,
    ...cacheEmptyInboxes({ inbox: reader.inbox, commit: group.commit }),
    commits: () => group.commits,
    verify: () => trackScan(verifyInThread(file)),
    async unreadable() {
      const found = await trackScan(scanInThread(file))
      skipped.replace(found)
      return found
    },
    skipped: () => skipped.all(),
    backup: (to) => copyDatabase(file, to),
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}

/** Contract: records lost commits in the settings before anything new is written, then clears their notes. */
async function recordLoss(notes: CommitNotes, reader: StoreReader, writer: GroupWriter): Promise<void> {
  const lost = notes.findLost()
  if (!lost) return
  const known = (await fallbackIfUnreadable(reader.setting(LOST_COMMITS), null)) as LostCommits | null
  // True if an earlier process recorded this loss and died before it cleared the notes.
  const isKnown = known?.up_to.join() === lost.up_to.join()
  const value = { ...(known && !isKnown ? addLosses(known, lost) : lost) } as unknown as Json
  const recordOp: EncodedBatch = { ops: [{ op: 'set', name: LOST_COMMITS, value }] }
  const { outcomes, position: moved } = await writer.apply(isKnown ? [] : [recordOp])
  notes.clear()
  if (moved) notes.add(moved, [recordOp], outcomes)
}

interface WriterOptions {
  readonly file: string
  auditKey(): string | undefined
}

function chooseWriter(
  writes: NonNullable<SqliteOptions['writes']>,
  options: WriterOptions,
  clock: SqliteOptions['clock'],
): GroupWriter {
  if (writes === 'here') return createLocalWriter(options)
  return writes === 'thread' ? createThreadWriter(options) : createAdaptiveWriter(options, clock)
}

function createThreadWriter({ file, auditKey }: WriterOptions): GroupWriter {
  let started: Promise<GroupWriter> | undefined
  return {
    async apply(batches) {
      started ??= startWriterThread(file, auditKey)
      return (await started).apply(batches)
    },
    async close() {
      // A writer that failed to open needs no close; its caller received the error.
      const writer = await started?.catch(() => undefined)
      await writer?.close()
    },
  }
}

function createLocalWriter({ file, auditKey }: WriterOptions): GroupWriter {
  let writer: Writer | undefined
  return {
    async apply(batches) {
      writer ??= createWriter(openForWriting(file), opsWithAuditKey(auditKey))
      return writer.apply(batches)
    },
    close: async () => writer?.close(),
  }
}

/** A commit of at most this many batches is written in the main thread. */
const MAX_LOCAL_BATCHES = 4
/** If commits in the main thread take longer on average, the next COMMITS_ELSEWHERE use the writer thread. */
const SLOW_COMMIT_MS = 3
const LAST_WEIGHT = 0.1
const COMMITS_ELSEWHERE = 200

function createAdaptiveWriter(writerOptions: WriterOptions, clock: Pick<Clock, 'monotonic'>): GroupWriter {
  const local = createLocalWriter(writerOptions)
  const threaded = createThreadWriter(writerOptions)
  let threadedLeft = 0
  let averageMs = 0
  let isOpen = false
  async function applyLocally(batches: readonly EncodedBatch[]): Promise<AppliedGroup> {
    // Opens the database before the first measurement: opening takes long and says nothing about the speed of the disk.
    if (!isOpen) await local.apply([])
    isOpen = true
    const startedAt = clock.monotonic()
    const applied = await local.apply(batches)
    averageMs += (clock.monotonic() - startedAt - averageMs) * LAST_WEIGHT
    if (averageMs > SLOW_COMMIT_MS) {
      threadedLeft = COMMITS_ELSEWHERE
      averageMs = 0
    }
    return applied
  }
  return {
    apply(batches) {
      if (batches.length <= MAX_LOCAL_BATCHES && threadedLeft === 0) return applyLocally(batches)
      threadedLeft = Math.max(0, threadedLeft - 1)
      return threaded.apply(batches)
    },
    async close() {
      await local.close()
      await threaded.close()
    },
  }
}
