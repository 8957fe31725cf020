/**
 * The webhook channel: sends and receives messages as JSON. Both sides share a secret and sign timestamp and body with
 * it (HMAC-SHA256).
 */

import { z } from 'zod'
import { describeMismatch } from '../../domain/describe-issues.ts'
import { TirelessError } from '../../domain/error.ts'
import type { Channel, IncomingRequest, ReceivedMessage } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import { deliveryId, signBody, verifySignature } from '../../ports/signed-request.ts'
import { postRequest } from './post-request.ts'
import { webhookBody } from './webhook-body.ts'

export interface Webhook {
  readonly url: string
  /** The chat for messages that name no chat. */
  readonly chat_id: string | null
  /** Whether the receiver can replace a message in place. */
  readonly replaces: boolean
  /** Contract: throws if the secret is not available. */
  secret(): string
}

const NAME = 'webhook'
const DOCUMENT = 'docs/notices.md'
const MOST_BYTES = 64 * 1024

/** `configured`: returns the current configuration; undefined if no webhook is configured. */
export function webhookChannel(configured: () => Webhook | undefined, clock: Pick<Clock, 'now'>): Channel {
  return {
    ...{ name: NAME, replaces: true, sendsFiles: true },
    trouble() {
      const webhook = configured()
      if (!webhook) return 'channels.webhook is not configured'
      return messageThrownBy(() => webhook.secret())
    },
    async deliver(message, signal) {
      const webhook = requireWebhook(configured())
      const body = await webhookBody(message, webhook.chat_id)
      const now = clock.now()
      const timestamp = String(Math.floor(now / 1000))
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'tireless',
        'x-tireless-timestamp': timestamp,
        'x-tireless-delivery': message.id,
        'x-tireless-signature': signBody(webhook.secret(), timestamp, body),
      }
      await postRequest(webhook.url, { method: 'POST', headers, body }, now, signal)
      return webhook.replaces ? (message.replaces ?? message.id) : undefined
    },
    ownChat: () => configured()?.chat_id ?? null,
    receive: (request) => receiveMessage(requireWebhook(configured()), request),
  }
}

const messageShape = z.looseObject({
  text: z.string().min(1),
  chat_id: z.string().nullish(),
  user_id: z.string().nullish(),
  message_id: z.string().min(1).max(200).nullish(),
  /** Messages of another runtime are refused, so that two programs do not answer each other forever. */
  kind: z.undefined('this is the message of another runtime, not of a person').optional(),
})

function receiveMessage(webhook: Webhook, request: IncomingRequest): ReceivedMessage {
  const { body } = request
  if (Buffer.byteLength(body) > MOST_BYTES)
    throw new TirelessError('unauthorized', {
      ...{ what: 'the request is too large', expected: `at most ${MOST_BYTES} bytes`, fix: `see ${DOCUMENT}` },
    })
  const proof = verifySignature(request, webhook.secret(), DOCUMENT)
  const delivery = deliveryId(request, DOCUMENT)
  const { chat_id, user_id, text, message_id } = parseMessage(body)
  const heard = {
    channel: NAME,
    chat_id: chat_id ?? webhook.chat_id,
    user_id: user_id ?? null,
    message_id: message_id ?? delivery,
    text,
  }
  return { message: heard, proof }
}

function parseMessage(body: string): z.output<typeof messageShape> {
  const wrong = (what: string): TirelessError =>
    new TirelessError('usage', { where: 'the body', what, expected: '{"text": …, "chat_id"?, "user_id"?}' })
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    throw wrong('not valid JSON')
  }
  const { success, data, error } = messageShape.safeParse(value)
  if (success) return data
  throw wrong(describeMismatch(error.issues, value))
}

function requireWebhook(webhook: Webhook | undefined): Webhook {
  if (!webhook) throw new TirelessError('not_found', 'channels.webhook is not configured')
  return webhook
}

function messageThrownBy(work: () => unknown): string | null {
  try {
    work()
    return null
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}
