/**
 * The embedded store: one SQLite file, one writer (off the main thread by default), group commit.
 *
 * What is committed in one turn of the event loop, and whatever gathers while the writer is busy, shares one transaction and one
 * fsync. A commit that is alone waits for no timer.
 */

import { chmodSync, closeSync, existsSync, openSync } from 'node:fs'
import { TirelessError } from '../../../domain/error.ts'
import type { Batch, Outcome, Store } from '../../../ports/store.ts'
import { isReady, openReading, openWriting } from './connection.ts'
import { copyDatabase } from './copy.ts'
import { createReader } from './reader.ts'
import { startWriterThread, verifyInThread } from './thread.ts'
import { createWriter, type GroupWriter } from './writer.ts'

export interface SqliteOptions {
  readonly file: string
  /** `false`: the writer runs in this thread (the simulator's form). */
  readonly thread?: boolean
}

interface Waiting {
  readonly batches: readonly Batch[]
  resolve(outcomes: readonly Outcome[]): void
  reject(error: unknown): void
}

export async function openSqliteStore({ file, thread = true }: SqliteOptions): Promise<Store> {
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  const writer = thread ? onDemand(() => startWriterThread(file)) : inThread(file)
  // A database that is ready can be read at once; most commands only look, and a thread takes longer to start than they take.
  if (!isReady(file)) await writer.apply([])
  const readingDb = openReading(file)
  const group = groupCommit(writer)
  let closing: Promise<void> | undefined
  // The writer last: the last connection to close folds the log into the database.
  const closeBoth = async (): Promise<void> => {
    await group.drained()
    readingDb.close()
    await group.close()
  }
  return {
    ...createReader(readingDb),
    commit: group.commit,
    commits: group.commits,
    verify: () => verifyInThread(file),
    backup: (to) => copyDatabase(file, to),
    close() {
      closing ??= closeBoth()
      return closing
    },
  }
}

function onDemand(start: () => Promise<GroupWriter>): GroupWriter {
  let started: Promise<GroupWriter> | undefined
  return {
    async apply(batches) {
      started ??= start()
      return (await started).apply(batches)
    },
    async close() {
      // One that could not be opened has nothing to close; whoever needed it was told.
      const writer = await started?.catch(() => undefined)
      await writer?.close()
    },
  }
}

function inThread(file: string): GroupWriter {
  const writer = createWriter(openWriting(file))
  return {
    apply: async (batches) => writer.apply(batches),
    close: async () => writer.close(),
  }
}

function groupCommit(writer: GroupWriter): Pick<Store, 'commit' | 'commits' | 'close'> & { drained(): Promise<void> } {
  let gathering: Waiting[] = []
  let flushing: Promise<void> | undefined
  let broken: TirelessError | undefined
  let commits = 0

  async function flush(): Promise<void> {
    while (gathering.length > 0 && !broken) {
      await new Promise((resolve) => setImmediate(resolve))
      const group = gathering
      gathering = []
      try {
        const outcomes = await writer.apply(group.flatMap((waiting) => waiting.batches))
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
    flushing = undefined
  }

  return {
    commit(batches) {
      if (broken) return Promise.reject(broken)
      return new Promise((resolve, reject) => {
        gathering.push({ batches, resolve, reject })
        flushing ??= flush()
      })
    },
    commits: () => commits,
    async drained() {
      await flushing
    },
    async close() {
      broken ??= new TirelessError('store_closed', 'the store is closed')
      await writer.close()
    },
  }
}
