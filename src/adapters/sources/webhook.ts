/** The source `webhook`: another program posts signed JSON; each delivery becomes one observation. */

import { TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import type { Label } from '../../domain/label.ts'
import type { BusObservation } from '../../ports/bus.ts'
import { untilAborted } from '../../ports/deadline.ts'
import { deliveryId, verifySignature } from '../../ports/signed-request.ts'
import type { Source } from '../../ports/source.ts'

interface WebhookOptions {
  readonly name: string
  /** Contract: throws if the secret is not available. */
  secret(): string
  /** Name of the event for a body that is not a message. */
  readonly event: string
  readonly mostBytes: number
  readonly label: Label
}

const DOCUMENT = 'docs/sources.md'

export function webhookSource({ name, secret, event, mostBytes, label }: WebhookOptions): Source {
  return {
    ...{ name, type: 'webhook', mostBytes },
    async run(_, signal) {
      // A missing secret is reported at the start, not with the first request.
      secret()
      await untilAborted(signal)
    },
    receive(request) {
      const proof = verifySignature(request, secret(), DOCUMENT)
      const id = deliveryId(request, DOCUMENT)
      return { id, observation: observationOf(parseBody(request.body), event), label, proof }
    },
  }
}

function parseBody(body: string): Json {
  try {
    return JSON.parse(body) as Json
  } catch {
    throw new TirelessError('usage', {
      ...{ where: 'the body', what: 'not valid JSON', expected: '{"text": "…"}, or any JSON for an event' },
    })
  }
}

/** A body with more than a text is an event, so that nothing of it is lost. */
function observationOf(body: Json, event: string): BusObservation {
  const text = onlyText(body)
  return text === undefined ? { type: 'system_event', name: event, payload: body } : { type: 'user_message', text }
}

function onlyText(body: Json): string | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
  const { text, ...more } = body as Readonly<Record<string, Json>>
  return typeof text === 'string' && text.trim() !== '' && Object.keys(more).length === 0 ? text : undefined
}
