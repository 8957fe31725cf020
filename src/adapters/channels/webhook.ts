/**
 * The webhook channel: sends and receives messages as JSON. Both sides share a secret and sign timestamp and body with
 * it (HMAC-SHA256).
 */

import { TirelessError } from '../../domain/error.ts'
import type { Channel } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import { signBody } from '../../ports/signed-request.ts'
import { postRequest } from './post-request.ts'
import { webhookBody } from './webhook-body.ts'
import { mostBytesOf, readWebhookMessage } from './webhook-message.ts'

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

/** `configured`: returns the current configuration; undefined if no webhook is configured. */
export function webhookChannel(configured: () => Webhook | undefined, clock: Pick<Clock, 'now'>): Channel {
  return {
    ...{ name: NAME, sendsFiles: true },
    get replaces() {
      return configured()?.replaces ?? true
    },
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
    receive(request) {
      const webhook = requireWebhook(configured())
      return readWebhookMessage(request, { channel: NAME, secret: webhook.secret(), ownChat: webhook.chat_id })
    },
    mostBytes: mostBytesOf,
  }
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
