/** Signed requests: sender and receiver share a secret; HMAC-SHA256 of timestamp and body proves the sender. */

import { createHmac, timingSafeEqual } from 'node:crypto'
import { TirelessError } from '../domain/error.ts'
import type { IncomingRequest } from './channel.ts'

/** Largest accepted difference between a request's timestamp and this machine's clock. */
const WINDOW_MS = 5 * 60_000

export const signBody = (secret: string, timestamp: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`

/**
 * Contract: throws `unauthorized` unless the signature is right and recent. Returns what identifies the request, so
 * that a replay is recognised. The delivery id is not signed, so it does not identify a request.
 */
export function verifySignature({ headers, body, now }: IncomingRequest, secret: string, document: string): string {
  const timestamp = headers['x-tireless-timestamp'] ?? ''
  const proof = headers['x-tireless-signature'] ?? ''
  const refused = (what: string, expected: string): TirelessError =>
    new TirelessError('unauthorized', { what, expected, fix: `see ${document}` })
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now - Number(timestamp) * 1000) > WINDOW_MS)
    throw refused(
      'the timestamp is missing or differs too much from the current time',
      'X-Tireless-Timestamp in seconds, within five minutes',
    )
  if (!isSameText(proof, signBody(secret, timestamp, body)))
    throw refused('the signature is wrong', 'X-Tireless-Signature: sha256=<hmac of timestamp.body>')
  return `${timestamp} ${proof}`
}

/** Contract: the id that the sender chose for a request; throws `unauthorized` if it is missing. */
export function deliveryId({ headers }: Pick<IncomingRequest, 'headers'>, document: string): string {
  const delivery = headers['x-tireless-delivery'] ?? ''
  if (isDeliveryId(delivery)) return delivery
  throw new TirelessError('unauthorized', {
    what: 'the delivery id is missing',
    expected: 'X-Tireless-Delivery: a unique id',
    fix: `see ${document}`,
  })
}

/** Printable ASCII without spaces. */
export const isDeliveryId = (text: string): boolean => /^[\x21-\x7e]{1,200}$/.test(text)

/** Compares in constant time, so that the duration tells nothing about the secret. */
export function isSameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
