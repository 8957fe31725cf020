/**
 * The fetch function that the SDK uses. Requests go through the egress guard and only to the configured host; the size
 * of responses is limited. The SDK follows a redirect on the same host by calling this function again.
 */

import { type Address, parseHttpAddress } from '../../domain/address.ts'
import { TirelessError } from '../../domain/error.ts'
import type { Egress } from '../../ports/egress.ts'

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** `own`: the configured address of the server. */
export function guardedFetch(open: Egress['open'], own: Address, mostBytes: number): Fetch {
  return async (url, init = {}) => {
    const to = checkSameHost(own, String(url))
    const { method = 'GET', signal } = init
    const request = { to, method, headers: Object.fromEntries(new Headers(init.headers)) }
    const { status, headers, body } = await open(
      typeof init.body === 'string' ? { ...request, body: init.body } : request,
      signal ?? new AbortController().signal,
    )
    if (status >= 300 && status < 400 && headers.location !== undefined) {
      await body?.cancel()
      checkSameHost(
        own,
        URL.canParse(headers.location, to.url) ? new URL(headers.location, to.url).href : headers.location,
      )
      return new Response(null, { status, headers })
    }
    const { 'content-encoding': _, 'content-length': __, ...kept } = headers
    return new Response(method === 'POST' ? (body?.pipeThrough(limitSize(mostBytes)) ?? null) : body, {
      status,
      headers: kept,
    })
  }
}

/** Contract: the parsed `url`; throws `egress_refused` if its scheme, host or port differs from those of `own`. */
function checkSameHost(own: Address, url: string): Address {
  const read = parseHttpAddress(url)
  if (read.kind === 'read') {
    const { scheme, host, port } = read.value
    if (scheme === own.scheme && host === own.host && port === own.port) return read.value
  }
  throw new TirelessError('egress_refused', {
    what: 'the server redirects to another host',
    got: url.slice(0, LONGEST_URL),
    expected: `an address at ${new URL(own.url).origin}`,
    fix: 'if the server has moved, set its new address in mcp_servers',
  })
}

const LONGEST_URL = 300

/** Limits the response to a POST. The stream of server events (GET) has no limit, because it stays open. */
function limitSize(mostBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes > mostBytes) controller.error(new Error(`it sent a response of more than ${mostBytes} bytes`))
      else controller.enqueue(chunk)
    },
  })
}
