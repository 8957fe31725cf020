/** One request to one IP address that was judged before: its name goes into the header and into TLS, and is not looked up again. */

import http from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'
import { type Address, isIp } from '../../domain/address.ts'
import { TirelessError } from '../../domain/error.ts'
import type { Answered, Opened, Outgoing } from '../../ports/egress.ts'
import { bodyOf, unpacked } from './body.ts'
import { codeOf, unreachable } from './reach.ts'

const MAX_HEADER_BYTES = 16 * 1024

type Asking = Omit<Outgoing, 'maxBytes'>

/** `ips`: tried in this order until one takes the connection. */
export async function exchange(outgoing: Outgoing, ips: readonly string[], signal: AbortSignal): Promise<Answered> {
  const response = await answerFrom(outgoing, ips, signal)
  try {
    return await wholeOf(response, outgoing)
  } catch (thrown) {
    throw silent(outgoing, thrown)
  } finally {
    response.destroy()
  }
}

/** The same, up to where the body begins. */
export async function opened(outgoing: Asking, ips: readonly string[], signal: AbortSignal): Promise<Opened> {
  const response = await answerFrom(outgoing, ips, signal)
  const [status, headers] = [response.statusCode ?? 0, plain(response.headers)]
  if (isEmpty(outgoing.method, status)) {
    response.destroy()
    return { status, headers, body: null }
  }
  try {
    const body = Readable.toWeb(unpacked(response, headers['content-encoding'])) as ReadableStream<Uint8Array>
    return { status, headers, body }
  } catch (thrown) {
    response.destroy()
    throw thrown
  }
}

async function answerFrom(
  outgoing: Asking,
  ips: readonly string[],
  signal: AbortSignal,
): Promise<http.IncomingMessage> {
  for (const [at, ip] of ips.entries()) {
    try {
      return await answerOf(outgoing.to, ip, outgoing, signal)
    } catch (thrown) {
      // Once it may have been heard, it is not said again.
      if (at < ips.length - 1 && !signal.aborted && isDeaf(thrown)) continue
      throw silent(outgoing, thrown)
    }
  }
  throw unreachable(outgoing.to, 'it leads nowhere')
}

const silent = ({ to }: Asking, thrown: unknown): TirelessError =>
  thrown instanceof TirelessError ? thrown : unreachable(to, `it did not answer (${codeOf(thrown)})`, thrown)

const isDeaf = (thrown: unknown): boolean =>
  ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'].includes(codeOf(thrown))

async function wholeOf(response: http.IncomingMessage, { to, method, maxBytes }: Outgoing): Promise<Answered> {
  const [status, headers] = [response.statusCode ?? 0, plain(response.headers)]
  const { bytes, cut } = isEmpty(method, status)
    ? { bytes: Buffer.alloc(0), cut: false }
    : await bodyOf(response, headers['content-encoding'], maxBytes)
  return { kind: 'answered', from: to, status, headers, body: bytes, cut }
}

const isEmpty = (method: string, status: number): boolean => method === 'HEAD' || [204, 205, 304].includes(status)

function answerOf(
  to: Address,
  ip: string,
  { method, headers, body }: Asking,
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
