/**
 * The generic webhook, both ways: messages go out as signed JSON, words of people come in as such. Both sides know one secret, and prove it by
 * a digest over the instant and the body.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { TirelessError } from '../../domain/error.ts'
import type { Message } from '../../domain/message.ts'
import { describeMismatch } from '../../domain/mismatch.ts'
import type { Channel, Incoming, Received } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import { send } from './http.ts'

export interface Webhook {
  readonly url: string
  /** Where a message goes that names no chat. */
  readonly chat_id: string | null
  /** Contract: throws where it is not to be had. */
  secret(): string
}

const NAME = 'webhook'
/** Older than this, or from so far in the future, nothing is believed. */
const WINDOW_MS = 5 * 60_000
const MOST_BYTES = 64 * 1024

/** `configured`: as it is now; undefined where it is not. */
export function webhookChannel(configured: () => Webhook | undefined, clock: Pick<Clock, 'now'>): Channel {
  return {
    name: NAME,
    trouble() {
      const webhook = configured()
      if (!webhook) return 'channels.webhook is not configured'
      return fault(() => webhook.secret())
    },
    async deliver(message, signal) {
      const webhook = wanted(configured())
      const body = JSON.stringify(bodyOf(webhook, message))
      const now = clock.now()
      const timestamp = String(Math.floor(now / 1000))
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'tireless',
        'x-tireless-timestamp': timestamp,
        'x-tireless-delivery': message.id,
        'x-tireless-signature': signatureOf(webhook.secret(), timestamp, body),
      }
      await send(webhook.url, { method: 'POST', headers, body }, now, signal)
    },
    ownChat: () => configured()?.chat_id ?? null,
    receive: (request) => received(wanted(configured()), request),
  }
}

const bodyOf = (webhook: Webhook, { id, kind, chat_id, text, ts }: Message) => ({
  ...{ id, kind, chat_id: chat_id ?? webhook.chat_id, text, ts },
})

export const signatureOf = (secret: string, timestamp: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`

const wordShape = z.looseObject({
  text: z.string().min(1),
  chat_id: z.string().nullish(),
  user_id: z.string().nullish(),
  message_id: z.string().min(1).max(200).nullish(),
  /** What a runtime says of itself: answering that would be two programs talking for ever. */
  kind: z.undefined('this is a message of a runtime, not the word of a person').optional(),
})

function received(webhook: Webhook, { headers, body, now }: Incoming): Received {
  const timestamp = headers['x-tireless-timestamp'] ?? ''
  const proof = headers['x-tireless-signature'] ?? ''
  const delivery = headers['x-tireless-delivery'] ?? ''
  if (Buffer.byteLength(body) > MOST_BYTES) throw refused('it is too large', `at most ${MOST_BYTES} bytes`)
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now - Number(timestamp) * 1000) > WINDOW_MS)
    throw refused('it is not of now', 'X-Tireless-Timestamp in seconds, within five minutes')
  if (!sameText(proof, signatureOf(webhook.secret(), timestamp, body)))
    throw refused('its signature is wrong', 'X-Tireless-Signature: sha256=<hmac of timestamp.body>')
  if (!/^[\x21-\x7e]{1,200}$/.test(delivery))
    throw refused('it has no id', 'X-Tireless-Delivery: one for each delivery')
  const { chat_id, user_id, text, message_id } = wordOf(body)
  const heard = {
    channel: NAME,
    chat_id: chat_id ?? webhook.chat_id,
    user_id: user_id ?? null,
    message_id: message_id ?? delivery,
    text,
  }
  // The id of the delivery is not part of what is signed, so it alone would not stop anybody from sending it again.
  return { heard, proof: `${timestamp} ${proof}` }
}

function wordOf(body: string): z.output<typeof wordShape> {
  const wrong = (what: string): TirelessError =>
    new TirelessError('usage', { where: 'the body', what, expected: '{"text": …, "chat_id"?, "user_id"?}' })
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    throw wrong('it is no JSON')
  }
  const { success, data, error } = wordShape.safeParse(value)
  if (success) return data
  throw wrong(describeMismatch(error.issues, value))
}

/** Takes as long for a wrong one as for the right one. */
function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

const refused = (what: string, expected: string): TirelessError =>
  new TirelessError('unauthorized', { what, expected, fix: 'see docs/notices.md' })

function wanted(webhook: Webhook | undefined): Webhook {
  if (!webhook) throw new TirelessError('not_found', 'channels.webhook is not configured')
  return webhook
}

function fault(work: () => unknown): string | null {
  try {
    work()
    return null
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}
