/**
 * Verifies the requests that Lark sends in webhook mode. With an Encrypt Key the body is encrypted (AES-256-CBC) and
 * signed; otherwise only the Verification Token proves the sender.
 */

import { createDecipheriv, createHash } from 'node:crypto'
import { z } from 'zod'
import { TirelessError } from '../../../domain/error.ts'
import type { IncomingRequest } from '../../../ports/channel.ts'
import { isSameText } from '../../../ports/signed-request.ts'

export interface WebhookKeys {
  readonly appId: string
  readonly encryptKey: string | undefined
  readonly verificationToken: string | undefined
}

/** A verified request. */
type WebhookRequest =
  | { readonly kind: 'challenge'; readonly challenge: string }
  | {
      readonly kind: 'event'
      readonly type: string
      /** The fields of header and event together, as the SDK passes them on. */
      readonly data: Readonly<Record<string, unknown>>
      /** Identifies the request, so that a replay is recognised. */
      readonly proof: string
    }

const WINDOW_MS = 5 * 60_000
const MOST_BYTES = 1024 * 1024
const DOCUMENT = 'docs/lark.md'

const refused = (what: string, expected?: string): TirelessError =>
  new TirelessError('unauthorized', { what, expected, fix: `see ${DOCUMENT}` })

const challengeShape = z.object({
  type: z.literal('url_verification'),
  token: z.string().catch(''),
  challenge: z.string().max(1000),
})
const eventShape = z.object({
  schema: z.literal('2.0'),
  header: z.looseObject({
    event_id: z.string().min(1).max(200),
    event_type: z.string(),
    app_id: z.string(),
    token: z.string().catch(''),
    /** In milliseconds. */
    create_time: z.string().catch(''),
  }),
  event: z.looseObject({}).catch({}),
})

/** Contract: pure; throws `unauthorized` unless the request comes from Lark and is recent. */
export function verifyRequest(request: IncomingRequest, keys: WebhookKeys): WebhookRequest {
  if (keys.encryptKey === undefined && keys.verificationToken === undefined)
    throw refused('neither encrypt_key nor verification_token is configured')
  if (Buffer.byteLength(request.body) > MOST_BYTES) throw refused('the request is too large', `${MOST_BYTES} bytes`)
  const proof = verifySignature(request, keys.encryptKey)
  const body = readBody(request.body, keys.encryptKey)
  const challenge = challengeShape.safeParse(body).data
  if (challenge) {
    verifyToken(challenge.token, keys)
    return { kind: 'challenge', challenge: challenge.challenge }
  }
  const event = eventShape.safeParse(body).data
  if (!event) throw refused('this is no event of Lark', 'an event with schema 2.0')
  const { header } = event
  verifyToken(header.token, keys)
  if (header.app_id !== keys.appId) throw refused('the event is for another app')
  if (keys.encryptKey === undefined) verifyTime(Number(header.create_time), request.now)
  else if (proof === undefined) throw refused('the signature is missing', 'X-Lark-Signature')
  return {
    kind: 'event',
    type: header.event_type,
    data: { ...header, ...event.event },
    proof: proof ?? header.event_id,
  }
}

/** Undefined: there is no signature. Lark does not sign the check of the address. */
function verifySignature({ headers, body, now }: IncomingRequest, encryptKey: string | undefined): string | undefined {
  const signature = headers['x-lark-signature'] ?? ''
  if (encryptKey === undefined || signature === '') return undefined
  const [timestamp, nonce] = [headers['x-lark-request-timestamp'] ?? '', headers['x-lark-request-nonce'] ?? '']
  verifyTime(/^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1000 : Number.NaN, now)
  const expected = createHash('sha256').update(`${timestamp}${nonce}${encryptKey}${body}`).digest('hex')
  if (!isSameText(signature, expected)) throw refused('the signature is wrong', 'X-Lark-Signature of the Encrypt Key')
  return `${timestamp} ${signature}`
}

function verifyTime(ms: number, now: number): void {
  if (Math.abs(now - ms) <= WINDOW_MS) return
  throw refused('the timestamp is missing or differs too much from the current time', 'a time within five minutes')
}

function verifyToken(token: string, { verificationToken }: WebhookKeys): void {
  if (verificationToken === undefined || isSameText(token, verificationToken)) return
  throw refused('the verification token is wrong', 'the Verification Token of the app')
}

const encryptedShape = z.object({ encrypt: z.string() })

function readBody(body: string, encryptKey: string | undefined): unknown {
  const value = parseJson(body)
  const encrypted = encryptedShape.safeParse(value).data?.encrypt
  if (encryptKey === undefined) {
    if (encrypted !== undefined) throw refused('the body is encrypted', 'channels.lark.encrypt_key')
    return value
  }
  if (encrypted === undefined) throw refused('the body is not encrypted', 'a body encrypted with the Encrypt Key')
  return parseJson(decrypt(encrypted, encryptKey))
}

/** The first 16 bytes are the initialisation vector; the key is the hash of the Encrypt Key. */
function decrypt(encrypted: string, encryptKey: string): string {
  const bytes = Buffer.from(encrypted, 'base64')
  const key = createHash('sha256').update(encryptKey).digest()
  try {
    const decipher = createDecipheriv('aes-256-cbc', key, bytes.subarray(0, 16))
    return Buffer.concat([decipher.update(bytes.subarray(16)), decipher.final()]).toString('utf8')
  } catch {
    throw refused('the body cannot be decrypted', 'the Encrypt Key of the app')
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw refused('the body is not JSON')
  }
}
