/** Runs the writer and scans in worker threads, so that they do not block the event loop. */

import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { asTirelessError, TirelessError } from '../../../domain/error.ts'
import type { UnreadableRow } from '../../../domain/unreadable-row.ts'
import type { EncodedBatch } from '../encode-batch.ts'
import type { AppliedGroup, GroupWriter } from './writer.ts'

export type WriterReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'applied'; readonly applied: AppliedGroup }
  | {
      readonly kind: 'failed'
      readonly code: 'store_failed' | 'store_unsupported' | 'internal'
      readonly message: string
    }
  | { readonly kind: 'closed' }

export type WriterRequest =
  | { readonly kind: 'apply'; readonly batches: readonly EncodedBatch[]; readonly auditKey: string | undefined }
  | { readonly kind: 'close' }

export async function startWriterThread(
  file: string,
  auditKey: () => string | undefined = () => undefined,
): Promise<GroupWriter> {
  const worker = new Worker(moduleUrl('writer-main'), { workerData: { file } })
  // There is one request at a time, so one pending promise suffices; it rejects if the thread dies.
  let pending: { resolve(message: WriterReply): void; reject(error: unknown): void } | undefined
  const takePending = (): typeof pending => {
    const current = pending
    pending = undefined
    return current
  }
  worker.on('message', (message: WriterReply) => takePending()?.resolve(message))
  worker.on('error', (error) =>
    takePending()?.reject(new TirelessError('store_failed', 'the writer thread of the store failed', { cause: error })),
  )
  worker.on('exit', () =>
    takePending()?.reject(new TirelessError('store_failed', 'the writer thread of the store ended')),
  )

  const nextReply = (): Promise<WriterReply> => new Promise((resolve, reject) => (pending = { resolve, reject }))
  const request = async (message: WriterRequest): Promise<WriterReply> => {
    worker.postMessage(message)
    return throwIfFailed(await nextReply())
  }

  const firstReply = await nextReply()
  if (firstReply.kind === 'failed') await worker.terminate()
  throwIfFailed(firstReply)
  worker.unref()
  return {
    async apply(batches) {
      worker.ref()
      try {
        const apply = { kind: 'apply', auditKey: auditKey() } as const
        const message = await request({ ...apply, batches }).catch((thrown) => {
          if (!(thrown instanceof DOMException)) throw thrown
          return request({ ...apply, batches: batches.map(refuseUncloneable) })
        })
        return message.kind === 'applied' ? message.applied : { outcomes: [], position: undefined }
      } finally {
        worker.unref()
      }
    },
    async close() {
      const exited = once(worker, 'exit')
      worker.ref()
      worker.postMessage({ kind: 'close' } satisfies WriterRequest)
      await exited
    },
  }
}

/** Marks a batch as refused if it cannot be cloned to a thread, for example because of a function. */
function refuseUncloneable(batch: EncodedBatch): EncodedBatch {
  try {
    structuredClone(batch)
    return batch
  } catch (thrown) {
    return { ops: [], refusal: asTirelessError(thrown).message }
  }
}

/** A scan in a worker thread. */
export interface BackgroundScan<T> {
  readonly result: Promise<T>
  stop(): Promise<unknown>
}

export const verifyInThread = (file: string): BackgroundScan<readonly string[]> => scanWithWorker(file, 'damage')

export const scanInThread = (file: string): BackgroundScan<readonly UnreadableRow[]> => scanWithWorker(file, 'rows')

/** Uses its own read-only connection. A stopped scan resolves with an empty list. */
function scanWithWorker<T>(file: string, scanKind: 'damage' | 'rows'): BackgroundScan<readonly T[]> {
  const worker = new Worker(moduleUrl('verify-main'), { workerData: { file, what: scanKind } })
  worker.unref()
  const found = new Promise<readonly T[]>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => resolve([]))
  })
  return { result: found, stop: () => worker.terminate() }
}

/** A module next to this one, with the same extension: source in a checkout, compiled in the package. */
function moduleUrl(name: string): URL {
  return new URL(`./${name}${extname(import.meta.url)}`, import.meta.url)
}

function throwIfFailed(message: WriterReply): WriterReply {
  if (message.kind === 'failed') throw new TirelessError(message.code, message.message)
  return message
}
