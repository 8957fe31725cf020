/** Sends one request to an IP address that was checked before. The host name is used for the header and TLS only. */

import http from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'
import { type Address, isIp } from '../../domain/address.ts'
import { TirelessError } from '../../domain/error.ts'
import type { EgressRequest, EgressResponse, StreamedResponse } from '../../ports/egress.ts'
import { decompress, readLimitedBody } from './read-body.ts'
import { networkErrorCode, unreachableError } from './resolve-host.ts'

const MAX_HEADER_BYTES = 16 * 1024

type RequestWithoutLimit = Omit<EgressRequest, 'maxBytes'>

/** `ips`: tried in this order until one accepts the connection. */
export async function requestWhole(
  outgoing: EgressRequest,
  ips: readonly string[],
  signal: AbortSignal,
): Promise<EgressResponse> {
  const response = await requestFirstReachable(outgoing, ips, signal)
  try {
    return await readResponse(response, outgoing)
  } catch (thrown) {
    throw noResponse(outgoing, thrown)
  } finally {
    response.destroy()
  }
}

/** Contract: as requestWhole, but resolves before the body is read. */
export async function openResponse(
  outgoing: RequestWithoutLimit,
  ips: readonly string[],
  signal: AbortSignal,
): Promise<StreamedResponse> {
  const response = await requestFirstReachable(outgoing, ips, signal)
  const [status, headers] = [response.statusCode ?? 0, joinHeaders(response.headers)]
  if (hasNoBody(outgoing.method, status)) {
    response.destroy()
    return { status, headers, body: null }
  }
  try {
    const body = Readable.toWeb(decompress(response, headers['content-encoding'])) as ReadableStream<Uint8Array>
    return { status, headers, body }
  } catch (thrown) {
    response.destroy()
    throw thrown
  }
}

async function requestFirstReachable(
  outgoing: RequestWithoutLimit,
  ips: readonly string[],
  signal: AbortSignal,
): Promise<http.IncomingMessage> {
  for (const [at, ip] of ips.entries()) {
    try {
      return await sendRequest(outgoing.to, ip, outgoing, signal)
    } catch (thrown) {
      // The next address is tried only if the connection failed: otherwise the server may have received the request.
      if (at < ips.length - 1 && !signal.aborted && isConnectFailure(thrown)) continue
      throw noResponse(outgoing, thrown)
    }
  }
  throw unreachableError(outgoing.to, 'the host has no address')
}

const noResponse = ({ to }: RequestWithoutLimit, thrown: unknown): TirelessError =>
  thrown instanceof TirelessError ? thrown : unreachableError(to, `no response (${networkErrorCode(thrown)})`, thrown)

const isConnectFailure = (thrown: unknown): boolean =>
  ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'].includes(networkErrorCode(thrown))

async function readResponse(
  response: http.IncomingMessage,
  { to, method, maxBytes }: EgressRequest,
): Promise<EgressResponse> {
  const [status, headers] = [response.statusCode ?? 0, joinHeaders(response.headers)]
  const { bytes, cut } = hasNoBody(method, status)
    ? { bytes: Buffer.alloc(0), cut: false }
    : await readLimitedBody(response, headers['content-encoding'], maxBytes)
  return { kind: 'answered', from: to, status, headers, body: bytes, truncated: cut }
}

const hasNoBody = (method: string, status: number): boolean => method === 'HEAD' || [204, 205, 304].includes(status)

function sendRequest(
  to: Address,
  ip: string,
  { method, headers, body }: RequestWithoutLimit,
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
    // A switch to another protocol is refused.
    request.once('upgrade', (_, socket) => {
      socket.destroy()
      reject(unreachableError(to, 'the server asks for another protocol (Upgrade)'))
    })
    request.end(body)
  })
}

function joinHeaders(headers: http.IncomingHttpHeaders): Record<string, string> {
  const joined: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) joined[name] = Array.isArray(value) ? value.join(', ') : value
  return joined
}
