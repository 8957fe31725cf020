/**
 * The embedded store: one SQLite file, one writer at a time, group commit.
 *
 * What is committed in one turn of the event loop, and whatever gathers while a commit is under way, shares one transaction and one
 * fsync, in a thread of its own, so that many sessions never hold up the event loop. A commit that is alone waits for no timer, and on a
 * quick disk for no thread either: the way there and back costs as much as the commit itself.
 */

import { chmodSync, closeSync, existsSync, openSync } from 'node:fs'
import { TirelessError } from '../../../domain/error.ts'
import type { Json } from '../../../domain/json.ts'
import { bothLosses, LOST_COMMITS, type LostCommits } from '../../../domain/lost-commits.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type Batch, type Outcome, type Store, unlessUnreadable } from '../../../ports/store.ts'
import { type AuditSealOptions, AuditSealWriter } from './audit-seal.ts'
import { CommitNotes } from './commit-notes.ts'
import { isReady, openReading, openWriting, positionOf } from './connection.ts'
import { copyDatabase } from './copy.ts'
import { encode, type WrittenBatch } from './encode.ts'
import { opsWith } from './ops.ts'
import { quietly } from './quiet.ts'
import { createReader, type Reader } from './reader.ts'
import { SkippedRows } from './skipped-rows.ts'
import { type Look, scanInThread, startWriterThread, verifyInThread } from './thread.ts'
import { type Applied, createWriter, type GroupWriter, type Writer } from './writer.ts'

export interface SqliteOptions {
  readonly file: string
  /** Times lone commits. */
  readonly clock: Pick<Clock, 'monotonic'>
  /** `here`: everything in this thread. `thread`: everything in the writer's. */
  readonly writes?: 'here' | 'thread' | 'as_it_suits'
  /** Without it the audit log is a plain chain, which whoever can write the database can write anew. */
  readonly audit?: AuditSealOptions
}

interface Waiting {
  readonly batches: readonly Batch[]
  resolve(outcomes: readonly Outcome[]): void
  reject(error: unknown): void
}

export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { file, clock, writes = 'as_it_suits' } = options
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  let seal: AuditSealWriter | undefined
  const opening: Opening = { file, auditKey: () => seal?.key }
  const writer =
    writes === 'here' ? inThread(opening) : writes === 'thread' ? onDemand(opening) : asItSuits(opening, clock)
  // A database that is ready can be read at once; most commands only look.
  if (!isReady(file)) await writer.apply([])
  const readingDb = openReading(file)
  const skipped = new SkippedRows()
  const reader = createReader(readingDb, (row) => skipped.add(row))
  const notes = new CommitNotes(file, positionOf(readingDb))
  await tellLoss(notes, reader, writer)
  seal = options.audit && (await AuditSealWriter.open(options.audit, reader))
  const group = groupCommit(writer, notes, seal)
  const looking = new Set<() => Promise<unknown>>()
  let closing: Promise<void> | undefined
  // The writer last: the last connection to close folds the log into the database.
  const closeBoth = async (): Promise<void> => {
    await group.drained()
    // Whoever still looks at the file would keep it open.
    await Promise.all([...looking].map((stop) => stop()))
    readingDb.close()
    notes.close()
    seal?.close()
    await group.close()
  }
  const inBackground = <T>({ found, stop }: Look<T>): Promise<T> => {
    looking.add(stop)
    return found.finally(() => looking.delete(stop))
  }
  return {
    ...reader,
    ...quietly({ inbox: reader.inbox, commit: group.commit }),
    commits: group.commits,
    verify: () => inBackground(verifyInThread(file)),
    async unreadable() {
      const found = await inBackground(scanInThread(file))
      skipped.replace(found)
      return found
    },
    skipped: () => skipped.all(),
    backup: (to) => copyDatabase(file, to),
    close() {
      closing ??= closeBoth()
      return closing
    },
  }
}

/** Contract: what was acknowledged and is gone is a word of the database before anything new is written, and is noted nowhere else. */
async function tellLoss(notes: CommitNotes, reader: Reader, writer: GroupWriter): Promise<void> {
  const lost = notes.lost()
  if (!lost) return
  const known = (await unlessUnreadable(reader.setting(LOST_COMMITS), null)) as LostCommits | null
  // The same again: whoever found it died before the notes were gone.
  const isKnown = known?.up_to.join() === lost.up_to.join()
  const value = { ...(known && !isKnown ? bothLosses(known, lost) : lost) } as unknown as Json
  const told: WrittenBatch = { ops: [{ op: 'set', name: LOST_COMMITS, value }] }
  const { outcomes, moved } = await writer.apply(isKnown ? [] : [told])
  notes.forget()
  if (moved) notes.add(moved, [told], outcomes)
}

interface Opening {
  readonly file: string
  auditKey(): string | undefined
}

function onDemand({ file, auditKey }: Opening): GroupWriter {
  let started: Promise<GroupWriter> | undefined
  return {
    async apply(batches) {
      started ??= startWriterThread(file, auditKey)
      return (await started).apply(batches)
    },
    async close() {
      // One that could not be opened has nothing to close; whoever needed it was told.
      const writer = await started?.catch(() => undefined)
      await writer?.close()
    },
  }
}

function inThread({ file, auditKey }: Opening): GroupWriter {
  let writer: Writer | undefined
  return {
    async apply(batches) {
      writer ??= createWriter(openWriting(file), opsWith(auditKey))
      return writer.apply(batches)
    },
    close: async () => writer?.close(),
  }
}

/** Batches that are not worth the way to the other thread. */
const FEW = 4
/** Commits in this thread that take longer than this on average are felt by everybody else; the next ones go to the other thread. */
const LONG_MS = 3
const WEIGHT_OF_LAST = 0.1
const COMMITS_ELSEWHERE = 200

function asItSuits(opening: Opening, clock: Pick<Clock, 'monotonic'>): GroupWriter {
  const here = inThread(opening)
  const there = onDemand(opening)
  let elsewhere = 0
  let usual = 0
  let isOpen = false
  async function timed(batches: readonly WrittenBatch[]): Promise<Applied> {
    // Opening takes longer than many commits, and says nothing of the disk.
    if (!isOpen) await here.apply([])
    isOpen = true
    const began = clock.monotonic()
    const applied = await here.apply(batches)
    usual += (clock.monotonic() - began - usual) * WEIGHT_OF_LAST
    if (usual > LONG_MS) {
      elsewhere = COMMITS_ELSEWHERE
      usual = 0
    }
    return applied
  }
  return {
    apply(batches) {
      if (batches.length <= FEW && elsewhere === 0) return timed(batches)
      elsewhere = Math.max(0, elsewhere - 1)
      return there.apply(batches)
    },
    async close() {
      await here.close()
      await there.close()
    },
  }
}

/** So many waiting batches are not kept waiting for more: the writer is busy with them while the others come. */
const ENOUGH = 16

/** Lone commits in a row before the event loop has its turn: a millisecond or so. */
const MOST_THROUGH = 6

const whose = ({ batches }: Waiting): string | undefined => batches[0]?.fence?.dispatch_id

function groupCommit(
  writer: GroupWriter,
  notes: CommitNotes,
  seal: AuditSealWriter | undefined,
): Pick<Store, 'commit' | 'commits' | 'close'> & { drained(): Promise<void> } {
  let gathering: Waiting[] = []
  let busy: Promise<void> | undefined
  let scheduled = false
  let broken: TirelessError | undefined
  let commits = 0
  /** Whoever was alone in the last group, and how often it has been let through in this turn of the event loop. */
  let alone: string | undefined
  let through = 0

  /** At once, or with whatever else this turn of the event loop brings. */
  function soon(): void {
    const [first] = gathering
    if (busy || !first) return
    if (gathering.length >= ENOUGH || (whose(first) === alone && mayPass())) begin()
    else if (!scheduled) {
      scheduled = true
      setImmediate(() => {
        scheduled = false
        if (!busy) begin()
      })
    }
  }

  /** One that nobody shares a commit with waits for nobody, but leaves the event loop to others now and then. */
  function mayPass(): boolean {
    if (through === 0) setImmediate(() => (through = 0))
    through += 1
    return through < MOST_THROUGH
  }

  function begin(): void {
    const group = gathering
    gathering = []
    const [first] = group
    if (!first) return
    alone = group.length === 1 ? whose(first) : undefined
    busy = apply(group).finally(() => {
      busy = undefined
      soon()
    })
  }

  async function apply(group: readonly Waiting[]): Promise<void> {
    try {
      const written = group.flatMap((waiting) => waiting.batches.map(encode))
      const { outcomes, moved } = await writer.apply(written)
      if (moved) notes.add(moved, written, outcomes)
      seal?.note(written, outcomes)
      commits += 1
      let from = 0
      for (const { batches, resolve } of group) {
        resolve(outcomes.slice(from, from + batches.length))
        from += batches.length
      }
    } catch (error) {
      // Nothing may be acknowledged after a failed sync: the store stays broken until the process is started again.
      broken =
        error instanceof TirelessError
          ? error
          : new TirelessError('store_failed', 'the store cannot commit', { cause: error })
      for (const waiting of group.concat(gathering)) waiting.reject(broken)
      gathering = []
    }
  }

  return {
    commit(batches) {
      if (broken) return Promise.reject(broken)
      return new Promise((resolve, reject) => {
        gathering.push({ batches, resolve, reject })
        soon()
      })
    },
    commits: () => commits,
    async drained() {
      while (busy || gathering.length > 0) await (busy ?? new Promise((resolve) => setImmediate(resolve)))
    },
    async close() {
      broken ??= new TirelessError('store_closed', 'the store is closed')
      await writer.close()
    },
  }
}
