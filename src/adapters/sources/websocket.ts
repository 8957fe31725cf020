/**
 * The source `websocket`: a client connects with a signature or the secret, and sends one event per text frame. The
 * server owns the socket; this file verifies clients and reads frames.
 */

import { z } from 'zod'
import { describeMismatch } from '../../domain/describe-issues.ts'
import { TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import type { Label } from '../../domain/label.ts'
import type { BusObservation } from '../../ports/bus.ts'
import type { IncomingRequest } from '../../ports/channel.ts'
import { untilAborted } from '../../ports/deadline.ts'
import { isDeliveryId, isSameText, verifySignature } from '../../ports/signed-request.ts'
import type { Source, SourceConnection } from '../../ports/source.ts'

interface WebSocketOptions {
  readonly name: string
  /** Contract: throws if the secret is not available. */
  secret(): string
  /** Origins of pages of other sites that may connect. */
  readonly origins: readonly string[]
  readonly mostBytes: number
  readonly framesPerSecond: number
  readonly label: Label
}

const DOCUMENT = 'docs/sources.md'

export function webSocketSource(options: WebSocketOptions): Source {
  const { name, secret, origins, mostBytes, framesPerSecond, label } = options
  const allowed = new Set(origins.map((origin) => new URL(origin).origin))
  return {
    ...{ name, type: 'websocket', mostBytes },
    async run(_, signal) {
      secret()
      await untilAborted(signal)
    },
    connect(request) {
      refuseOtherSites(request, allowed)
      const proof = verifyClient(request, secret())
      const parse: SourceConnection['parse'] = (frame) => ({ ...parseFrame(frame), label })
      return { framesPerSecond, parse, ...(proof === undefined ? {} : { proof }) }
    },
  }
}

/** The server leaves out the origin of its own page. */
function refuseOtherSites({ headers }: Pick<IncomingRequest, 'headers'>, allowed: ReadonlySet<string>): void {
  const { origin } = headers
  if (origin === undefined || allowed.has(origin)) return
  throw new TirelessError('forbidden', {
    ...{ what: 'pages of this site may not connect', where: 'Origin', got: origin },
    fix: 'add it to `origins` of the source',
  })
}

/** Contract: what identifies the signature; undefined for a client that has sent the secret itself. */
function verifyClient({ headers, now }: Omit<IncomingRequest, 'body'>, secret: string): string | undefined {
  const [, bearer] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? []
  if (bearer === undefined) return verifySignature({ headers, body: '', now }, secret, DOCUMENT)
  if (isSameText(bearer, secret)) return undefined
  throw new TirelessError('unauthorized', {
    ...{ what: 'wrong token', expected: "Authorization: Bearer <the source's secret>", fix: `see ${DOCUMENT}` },
  })
}

const json = z.unknown() as z.ZodType<Json>
const ID = 'an id of 1 to 200 printable ASCII characters'
const id = z.string(ID).refine(isDeliveryId, ID).optional()
const NAME = 'an event name of 1 to 64 characters (a-z A-Z 0-9 _ . -)'
const message = z.strictObject({ id, text: z.string().regex(/\S/, 'text that is not empty') })
const event = z.strictObject({
  ...{ id, name: z.string(NAME).regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/, NAME), payload: json.optional() },
})

const EXPECTED = '{"text": "…"} or {"name": "…", "payload": …}, each with an optional "id"'

function parseFrame(frame: string): { readonly id?: string; readonly observation: BusObservation } {
  const wrong = (what: string): TirelessError =>
    new TirelessError('usage', { where: 'the frame', what, expected: EXPECTED })
  let value: unknown
  try {
    value = JSON.parse(frame)
  } catch {
    throw wrong('not valid JSON')
  }
  const isEvent = typeof value === 'object' && value !== null && 'name' in value
  const parsed = (isEvent ? event : message).safeParse(value)
  if (!parsed.success) throw wrong(describeMismatch(parsed.error.issues, value))
  const { id: given, ...observed } = parsed.data
  return { ...(given === undefined ? {} : { id: given }), observation: observationOf(observed) }
}

function observationOf(observed: { text: string } | { name: string; payload?: Json | undefined }): BusObservation {
  if ('text' in observed) return { type: 'user_message', text: observed.text }
  const { name, payload } = observed
  return { type: 'system_event', name, ...(payload === undefined ? {} : { payload }) }
}
