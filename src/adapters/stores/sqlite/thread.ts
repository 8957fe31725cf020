/** The writer in a thread of its own, so that an fsync never holds up the event loop. */

import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { asTirelessError, TirelessError } from '../../../domain/error.ts'
import type { UnreadableRow } from '../../../domain/unreadable.ts'
import type { WrittenBatch } from './encode.ts'
import type { Applied, GroupWriter } from './writer.ts'

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'applied'; readonly applied: Applied }
  | {
      readonly kind: 'failed'
      readonly code: 'store_failed' | 'store_unsupported' | 'internal'
      readonly message: string
    }
  | { readonly kind: 'closed' }

export type ToThread =
  | { readonly kind: 'apply'; readonly batches: readonly WrittenBatch[]; readonly auditKey: string | undefined }
  | { readonly kind: 'close' }

export async function startWriterThread(
  file: string,
  auditKey: () => string | undefined = () => undefined,
): Promise<GroupWriter> {
  const worker = new Worker(beside('writer-main'), { workerData: { file } })
  // One request at a time, so one pending promise is enough; a thread that dies fails it.
  let pending: { resolve(message: FromThread): void; reject(error: unknown): void } | undefined
  const settle = (): typeof pending => {
    const was = pending
    pending = undefined
    return was
  }
  worker.on('message', (message: FromThread) => settle()?.resolve(message))
  worker.on('error', (error) =>
    settle()?.reject(new TirelessError('store_failed', 'the store writer died', { cause: error })),
  )
  worker.on('exit', () => settle()?.reject(new TirelessError('store_failed', 'the store writer ended')))

  const answer = (): Promise<FromThread> => new Promise((resolve, reject) => (pending = { resolve, reject }))
  const ask = async (message: ToThread): Promise<FromThread> => {
    worker.postMessage(message)
    return orThrow(await answer())
  }

  const opened = await answer()
  if (opened.kind === 'failed') await worker.terminate()
  orThrow(opened)
  worker.unref()
  return {
    async apply(batches) {
      worker.ref()
      try {
        const apply = { kind: 'apply', auditKey: auditKey() } as const
        const message = await ask({ ...apply, batches }).catch((thrown) => {
          if (!(thrown instanceof DOMException)) throw thrown
          return ask({ ...apply, batches: batches.map(onlyData) })
        })
        return message.kind === 'applied' ? message.applied : { outcomes: [], moved: undefined }
      } finally {
        worker.unref()
      }
    },
    async close() {
      const exited = once(worker, 'exit')
      worker.ref()
      worker.postMessage({ kind: 'close' } satisfies ToThread)
      await exited
    },
  }
}

/** What holds more than data, a function say, cannot be handed to a thread. It is refused alone. */
function onlyData(batch: WrittenBatch): WrittenBatch {
  try {
    structuredClone(batch)
    return batch
  } catch (thrown) {
    return { ops: [], refused: asTirelessError(thrown).message }
  }
}

/** Something that a thread of its own looks for. */
export interface Look<T> {
  readonly found: Promise<T>
  stop(): Promise<unknown>
}

export const verifyInThread = (file: string): Look<readonly string[]> => lookInThread(file, 'damage')

export const scanInThread = (file: string): Look<readonly UnreadableRow[]> => lookInThread(file, 'rows')

/** Its own thread and its own read-only connection: a large file takes a while. Stopped, it has found nothing. */
function lookInThread<T>(file: string, what: 'damage' | 'rows'): Look<readonly T[]> {
  const worker = new Worker(beside('verify-main'), { workerData: { file, what } })
  worker.unref()
  const found = new Promise<readonly T[]>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => resolve([]))
  })
  return { found, stop: () => worker.terminate() }
}

/** A file beside this one, in the form this one is in: source in a checkout, compiled in the package. */
function beside(name: string): URL {
  return new URL(`./${name}${extname(import.meta.url)}`, import.meta.url)
}

function orThrow(message: FromThread): FromThread {
  if (message.kind === 'failed') throw new TirelessError(message.code, message.message)
  return message
}
