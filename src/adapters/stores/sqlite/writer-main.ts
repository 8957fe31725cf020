/** Entry point of the writer thread: opens the database and applies one group per request. */

import { parentPort, workerData } from 'node:worker_threads'
import { asTirelessError } from '../../../domain/error.ts'
import { openWriting } from './connection.ts'
import { opsWith } from './ops.ts'
import type { FromThread, ToThread } from './thread.ts'
import { type Applied, createWriter, type Writer } from './writer.ts'

const NOTHING: Applied = { outcomes: [], moved: undefined }
const port = parentPort
if (port) serve()

function serve(): void {
  const reply = (message: FromThread): void => port?.postMessage(message)
  const replyWith = (work: () => FromThread): void => {
    try {
      reply(work())
    } catch (thrown) {
      const { code, message } = asTirelessError(thrown)
      reply({
        kind: 'failed',
        code: code === 'store_failed' || code === 'store_unsupported' ? code : 'internal',
        message,
      })
    }
  }
  let writer: Writer | undefined
  let auditKey: string | undefined
  replyWith(() => {
    writer = createWriter(
      openWriting(workerData.file),
      opsWith(() => auditKey),
    )
    return { kind: 'ready' }
  })
  port?.on('message', (message: ToThread) => {
    if (message.kind === 'apply') {
      auditKey = message.auditKey
      replyWith(() => ({ kind: 'applied', applied: writer?.apply(message.batches) ?? NOTHING }))
    } else {
      writer?.close()
      port?.close()
    }
  })
}
