/** One request to one IP address that was judged before: its name goes into the header and into TLS, and is not looked up again. */

import http from 'node:http'
import https from 'node:https'
import { type Address, isIp } from '../../domain/address.ts'
import { TirelessError } from '../../domain/error.ts'
import type { Answered, Outgoing } from '../../ports/egress.ts'
import { bodyOf } from './body.ts'
import { codeOf, unreachable } from './reach.ts'

const MAX_HEADER_BYTES = 16 * 1024

/** `ips`: tried in this order until one takes the connection. */
export async function exchange(outgoing: Outgoing, ips: readonly string[], signal: AbortSignal): Promise<Answered> {
  for (const [at, ip] of ips.entries()) {
    try {
      return await exchangeWith(outgoing, ip, signal)
    } catch (thrown) {
      // Once it may have been heard, it is not said again.
      if (at < ips.length - 1 && !signal.aborted && isDeaf(thrown)) continue
      throw thrown instanceof TirelessError
        ? thrown
        : unreachable(outgoing.to, `it did not answer (${codeOf(thrown)})`, thrown)
    }
  }
  throw unreachable(outgoing.to, 'it leads nowhere')
}

const isDeaf = (thrown: unknown): boolean =>
  ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'].includes(codeOf(thrown))

async function exchangeWith(outgoing: Outgoing, ip: string, signal: AbortSignal): Promise<Answered> {
  const { to, method, maxBytes } = outgoing
  const response = await answerOf(to, ip, outgoing, signal)
  try {
    const headers = plain(response.headers)
    const empty = method === 'HEAD' || response.statusCode === 204 || response.statusCode === 304
    const taken = empty
      ? { bytes: Buffer.alloc(0), cut: false }
      : await bodyOf(response, headers['content-encoding'], maxBytes)
    return { kind: 'answered', from: to, status: response.statusCode ?? 0, headers, body: taken.bytes, cut: taken.cut }
  } finally {
    response.destroy()
  }
}

function answerOf(
  to: Address,
  ip: string,
  { method, headers, body }: Outgoing,
  signal: AbortSignal,
): Promise<http.IncomingMessage> {
  const { pathname, search, host } = new URL(to.url)
  const options: https.RequestOptions = {
    ...{ host: ip, port: to.port, method, path: `${pathname}${search}`, signal },
    ...{ agent: false, maxHeaderSize: MAX_HEADER_BYTES, setHost: false },
    headers: {
      ...{ host, 'user-agent': 'tireless', accept: '*/*', 'accept-encoding': 'gzip, deflate, br', connection: 'close' },
      ...headers,
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    },
    ...(to.scheme === 'https' && !isIp(to.host) ? { servername: to.host } : {}),
  }
  return new Promise((resolve, reject) => {
    const request = (to.scheme === 'https' ? https : http).request(options)
    request.once('response', resolve)
    request.once('error', reject)
    // Whoever wants another protocol is not the web.
    request.once('upgrade', (_, socket) => {
      socket.destroy()
      reject(unreachable(to, 'it wants to speak another protocol'))
    })
    request.end(body)
  })
}

function plain(headers: http.IncomingHttpHeaders): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) kept[name] = Array.isArray(value) ? value.join(', ') : value
  return kept
}
