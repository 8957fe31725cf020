/** Entry point of the writer thread: opens the database and applies one group per request. */

import { parentPort, workerData } from 'node:worker_threads'
import { asTirelessError } from '../../../domain/error.ts'
import { openForWriting } from './connection.ts'
import { opsWithAuditKey } from './ops.ts'
import { type AppliedGroup, createWriter, type Writer } from './writer.ts'
import type { WriterReply, WriterRequest } from './writer-thread.ts'

const NOTHING: AppliedGroup = { outcomes: [], position: undefined }
const port = parentPort
if (port) serve()

function serve(): void {
  const reply = (message: WriterReply): void => port?.postMessage(message)
  const replyWith = (work: () => WriterReply): void => {
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
      openForWriting(workerData.file),
      opsWithAuditKey(() => auditKey),
    )
    return { kind: 'ready' }
  })
  port?.on('message', (message: WriterRequest) => {
    if (message.kind === 'apply') {
      auditKey = message.auditKey
      replyWith(() => ({ kind: 'applied', applied: writer?.apply(message.batches) ?? NOTHING }))
    } else {
      writer?.close()
      port?.close()
    }
  })
}
