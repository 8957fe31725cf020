/**
 * fetch, as the SDK needs it: through the one way out, to the place that the configuration names and to no other, with an end to how much one
 * answer may be. What a server sends on within its own place, the SDK follows, and asks here again.
 */

import { type Address, addressOf } from '../../domain/address.ts'
import { TirelessError } from '../../domain/error.ts'
import type { Egress } from '../../ports/egress.ts'

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** `own`: the server's address, as its owner wrote it. */
export function guardedFetch(open: Egress['open'], own: Address, mostBytes: number): Fetch {
  return async (url, init = {}) => {
    const to = placeWithin(own, String(url))
    const { method = 'GET', signal } = init
    const asked = { to, method, headers: Object.fromEntries(new Headers(init.headers)) }
    const { status, headers, body } = await open(
      typeof init.body === 'string' ? { ...asked, body: init.body } : asked,
      signal ?? new AbortController().signal,
    )
    if (status >= 300 && status < 400 && headers.location !== undefined) {
      await body?.cancel()
      placeWithin(
        own,
        URL.canParse(headers.location, to.url) ? new URL(headers.location, to.url).href : headers.location,
      )
      return new Response(null, { status, headers })
    }
    const { 'content-encoding': _, 'content-length': __, ...said } = headers
    return new Response(method === 'POST' ? (body?.pipeThrough(capped(mostBytes)) ?? null) : body, {
      status,
      headers: said,
    })
  }
}

/** Contract: throws `egress_refused` where it is another place. */
function placeWithin(own: Address, url: string): Address {
  const read = addressOf(url)
  if (read.kind === 'read') {
    const { scheme, host, port } = read.value
    if (scheme === own.scheme && host === own.host && port === own.port) return read.value
  }
  throw new TirelessError('egress_refused', {
    what: 'it sends on to another place, where nobody follows',
    got: url.slice(0, LONGEST_URL),
    expected: `something at ${new URL(own.url).origin}`,
    fix: 'if that is where it is now, name that address in mcp_servers',
  })
}

const LONGEST_URL = 300

/** Of an answer to a question. The stream on which a server tells what happens goes on for as long as it is open. */
function capped(mostBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes > mostBytes) controller.error(new Error(`it said more than ${mostBytes} bytes at once`))
      else controller.enqueue(chunk)
    },
  })
}
