/** Messages that come in by the webhook: verified by their signature first, then parsed, with files in base64. */

import { z } from 'zod'
import { describeMismatch } from '../../domain/describe-issues.ts'
import { TirelessError } from '../../domain/error.ts'
import type { ChatMessage, ReceivedFile } from '../../domain/message.ts'
import type { IncomingRequest, ReceivedMessage } from '../../ports/channel.ts'
import { deliveryId, isDeliveryId, verifySignature } from '../../ports/signed-request.ts'

const DOCUMENT = 'docs/notices.md'
/** Of a request without files, as the channel and as the server limit it, and of one with files. */
const MOST_BYTES = 64 * 1024
const MOST_BYTES_OF_SERVER = 1024 * 1024
const MOST_BYTES_WITH_FILES = 32 * 1024 * 1024
const WINDOW_MS = 5 * 60_000

const fileShape = z.object({
  name: z.string().min(1).max(1000),
  content_base64: z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/, 'expected base64 without line breaks'),
})

const messageShape = z.looseObject({
  text: z.string().default(''),
  chat_id: z.string().nullish(),
  user_id: z.string().nullish(),
  message_id: z.string().min(1).max(200).nullish(),
  thread_id: z.string().min(1).max(200).nullish(),
  files: z.array(fileShape).max(100).nullish(),
  /** Messages of another runtime are refused, so that two programs do not answer each other forever. */
  kind: z.undefined('this is the message of another runtime, not of a person').optional(),
})

/** Contract: pure. Only a request whose headers look like a signed one may be large; the signature is checked later. */
export function mostBytesOf(headers: IncomingRequest['headers'], now: number): number | undefined {
  const timestamp = Number(headers['x-tireless-timestamp'])
  const isRecent = Math.abs(now - timestamp * 1000) <= WINDOW_MS
  const isSigned = /^sha256=[0-9a-f]{64}$/.test(headers['x-tireless-signature'] ?? '')
  const isNamed = isDeliveryId(headers['x-tireless-delivery'] ?? '')
  return isRecent && isSigned && isNamed ? MOST_BYTES_WITH_FILES : undefined
}

/** `ownChat`: the chat of messages that name none. */
export function readWebhookMessage(
  request: IncomingRequest,
  { channel, secret, ownChat }: { readonly channel: string; readonly secret: string; readonly ownChat: string | null },
): ReceivedMessage {
  const proof = verifySignature(request, secret, DOCUMENT)
  const delivery = deliveryId(request, DOCUMENT)
  const { chat_id, user_id, text, message_id, thread_id, files } = parseMessage(request.body)
  const hasFiles = (files ?? []).length > 0
  if (!hasFiles) refuseLarge(Buffer.byteLength(request.body))
  const message: ChatMessage = {
    ...{ channel, chat_id: chat_id ?? ownChat, user_id: user_id ?? null, message_id: message_id ?? delivery, text },
    ...(thread_id === undefined || thread_id === null ? {} : { thread_id }),
    ...(hasFiles ? { files: (files ?? []).map(receivedFile) } : {}),
  }
  return { message, proof }
}

/** A request without files is small. */
function refuseLarge(bytes: number): void {
  if (bytes <= MOST_BYTES) return
  const parts = { what: 'the request is too large', expected: `at most ${MOST_BYTES} bytes`, fix: `see ${DOCUMENT}` }
  throw new TirelessError(bytes > MOST_BYTES_OF_SERVER ? 'request_oversize' : 'unauthorized', parts)
}

const receivedFile = ({ name, content_base64 }: z.output<typeof fileShape>): ReceivedFile => ({
  name,
  async read(mostBytes) {
    // Four characters stand for three bytes.
    const size = Math.floor((content_base64.replace(/=+$/, '').length * 3) / 4)
    if (size > mostBytes)
      throw new TirelessError('channel_refused', `larger than ${Math.floor(mostBytes / 1024 ** 2)} MB`)
    return Buffer.from(content_base64, 'base64')
  },
})

function parseMessage(body: string): z.output<typeof messageShape> {
  const wrong = (what: string): TirelessError =>
    new TirelessError('usage', {
      ...{ where: 'the body', what },
      expected: '{"text": …, "chat_id"?, "user_id"?, "thread_id"?, "files"?: [{"name", "content_base64"}]}',
    })
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    throw wrong('not valid JSON')
  }
  const { success, data, error } = messageShape.safeParse(value)
  if (!success) throw wrong(describeMismatch(error.issues, value))
  if (data.text === '' && (data.files ?? []).length === 0) throw wrong('text: expected a text, or files')
  return data
}
