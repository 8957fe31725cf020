/** A client of the event stream over HTTP. */

import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context as HonoContext } from 'hono'
import type { Authentication } from './auth.ts'
import { acceptsGzip, GZIP_HEADER } from './compressed-stream.ts'
import { httpError } from './error-response.ts'
import type { EventStream } from './event-stream.ts'
import { HEADERS, type HonoEnv, readCredentials } from './middleware.ts'

const MAX_VIEWERS = 64

interface EventSource {
  readonly live: EventStream
  readonly access: Authentication
}

/**
 * Writes to the connection directly, so that all viewers share one buffer and unsent bytes can be counted. Compressed,
 * it is a sixteenth: most of what many viewers cost is copying.
 */
export function streamEvents(c: HonoContext<HonoEnv>, { live, access }: EventSource): Response {
  if (live.viewers() >= MAX_VIEWERS)
    throw httpError(503, { what: 'too many viewers', expected: `at most ${MAX_VIEWERS}`, fix: 'close another viewer' })
  if (c.req.method === 'HEAD') return c.body(null)
  const { outgoing } = c.env
  const credentials = readCredentials(c)
  const isCompressed = acceptsGzip(c.req.header('accept-encoding'))
  const encoding = isCompressed ? { 'Content-Encoding': 'gzip' } : {}
  const headers = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', Vary: 'Accept-Encoding' }
  outgoing.writeHead(200, { ...HEADERS, ...headers, ...encoding })
  if (isCompressed) outgoing.write(GZIP_HEADER)
  const leave = live.join(
    {
      send: (part) => outgoing.write(isCompressed ? part.compressed : part.plain),
      unsentBytes: () => outgoing.writableLength,
      drop: () => outgoing.destroy(),
      isAuthorized: () => access.credentialOf(credentials) !== undefined,
    },
    c.req.header('last-event-id'),
  )
  outgoing.once('close', leave)
  return RESPONSE_ALREADY_SENT
}
