/**
 * The webhook channel: sends and receives messages as JSON. Both sides share a secret and sign timestamp and body with
 * it (HMAC-SHA256).
 */

import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { describeMismatch } from '../../domain/describe-issues.ts'
import { TirelessError } from '../../domain/error.ts'
import type { ChannelMessage } from '../../domain/message.ts'
import type { Channel, IncomingRequest, ReceivedMessage } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import { postRequest } from './post-request.ts'

export interface Webhook {
  readonly url: string
  /** The chat for messages that name no chat. */
  readonly chat_id: string | null
  /** Contract: throws if the secret is not available. */
  secret(): string
}

const NAME = 'webhook'
/** Largest accepted difference between a request's timestamp and this machine's clock. */
const WINDOW_MS = 5 * 60_000
const MOST_BYTES = 64 * 1024

/** `configured`: returns the current configuration; undefined if no webhook is configured. */
export function webhookChannel(configured: () => Webhook | undefined, clock: Pick<Clock, 'now'>): Channel {
  return {
    name: NAME,
    trouble() {
      const webhook = configured()
      if (!webhook) return 'channels.webhook is not configured'
      return messageThrownBy(() => webhook.secret())
    },
    async deliver(message, signal) {
      const webhook = requireWebhook(configured())
      const body = JSON.stringify(bodyOf(webhook, message))
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
    },
    ownChat: () => configured()?.chat_id ?? null,
    receive: (request) => receiveMessage(requireWebhook(configured()), request),
  }
}

const bodyOf = (webhook: Webhook, { id, kind, chat_id, text, ts }: ChannelMessage) => ({
  ...{ id, kind, chat_id: chat_id ?? webhook.chat_id, text, ts },
})

export const signBody = (secret: string, timestamp: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`

const messageShape = z.looseObject({
  text: z.string().min(1),
  chat_id: z.string().nullish(),
  user_id: z.string().nullish(),
  message_id: z.string().min(1).max(200).nullish(),
  /** Messages of another runtime are refused, so that two programs do not answer each other forever. */
  kind: z.undefined('this is the message of another runtime, not of a person').optional(),
})

function receiveMessage(webhook: Webhook, { headers, body, now }: IncomingRequest): ReceivedMessage {
  const timestamp = headers['x-tireless-timestamp'] ?? ''
  const proof = headers['x-tireless-signature'] ?? ''
  const delivery = headers['x-tireless-delivery'] ?? ''
  if (Buffer.byteLength(body) > MOST_BYTES) throw refused('the request is too large', `at most ${MOST_BYTES} bytes`)
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now - Number(timestamp) * 1000) > WINDOW_MS)
    throw refused(
      'the timestamp is missing or differs too much from the current time',
      'X-Tireless-Timestamp in seconds, within five minutes',
    )
  if (!sameText(proof, signBody(webhook.secret(), timestamp, body)))
    throw refused('the signature is wrong', 'X-Tireless-Signature: sha256=<hmac of timestamp.body>')
  if (!/^[\x21-\x7e]{1,200}$/.test(delivery))
    throw refused('the delivery id is missing', 'X-Tireless-Delivery: a unique id')
  const { chat_id, user_id, text, message_id } = parseMessage(body)
  const heard = {
    channel: NAME,
    chat_id: chat_id ?? webhook.chat_id,
    user_id: user_id ?? null,
    message_id: message_id ?? delivery,
    text,
  }
  // `proof` identifies the request, so that a replay is recognised. The delivery id is not signed, so it is not used.
  return { message: heard, proof: `${timestamp} ${proof}` }
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

/** Compares in constant time, so that the duration tells nothing about the signature. */
function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

const refused = (what: string, expected: string): TirelessError =>
  new TirelessError('unauthorized', { what, expected, fix: 'see docs/notices.md' })

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
