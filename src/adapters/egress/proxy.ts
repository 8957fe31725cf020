/**
 * A forward proxy on the loopback interface for one program that makes its own requests (a browser, git). It resolves a
 * name once per connection and connects to the address that it checked; clients need the proxy's password.
 */

import { timingSafeEqual } from 'node:crypto'
import http from 'node:http'
import net from 'node:net'
import type { Duplex } from 'node:stream'
import { type Address, formatHostPort, type HostPort, parseHostPort, parseHttpAddress } from '../../domain/address.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { EgressProxy, ProxyRefusal } from '../../ports/egress.ts'
import { egressRefusedError, type ResolveHost } from './resolve-host.ts'

const USER = 'tireless'
/** A connection without data for this long is closed. */
const IDLE_MS = 60_000
const MAX_REFUSALS = 50
/** Limited, because each connection takes file descriptors of this process. */
const MAX_CONNECTIONS = 256
/** Headers that apply to a single connection; a proxy does not forward them. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

const ONLY_READ = 'may only be read'

/** The proxy's own refusal of a host; the rules of the owner refuse others. */
class RefusedByProxy extends TirelessError {
  readonly kind: 'not_admitted' | 'only_read'
  readonly host: string

  constructor(kind: RefusedByProxy['kind'], place: HostPort, why: string) {
    const host = formatHostPort(place)
    super('egress_refused', `${host} ${why}`)
    this.kind = kind
    this.host = host
  }
}

function describeRefusal(thrown: unknown, message: string): ProxyRefusal {
  if (!(thrown instanceof RefusedByProxy)) return { kind: 'other', host: null, message }
  return { kind: thrown.kind, host: thrown.host, message }
}

interface Deps {
  admits(place: HostPort): boolean
  readonly reach: ResolveHost
  readonly password: string
  /** A Unix socket to listen on; without it, a free port on the loopback interface. */
  readonly at: string | undefined
  readonly use: 'all' | 'read'
}

export async function openProxy({ admits, reach, password, at, use }: Deps): Promise<EgressProxy> {
  const refusals: ProxyRefusal[] = []
  const sockets = new Set<Duplex>()
  const trackSocket = (socket: Duplex): void => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
  }
  const resolveChecked = async (place: HostPort): Promise<readonly string[]> => {
    if (!admits(place)) throw new RefusedByProxy('not_admitted', place, 'was not named')
    return reach(place)
  }
  /** Contract: the response to a failed request. */
  const failureResponse = (thrown: unknown): { status: number; text: string } => {
    const { code, message } = asTirelessError(thrown)
    if (refusals.length < MAX_REFUSALS) refusals.push(describeRefusal(thrown, message))
    return { status: code === 'egress_refused' ? 403 : 502, text: message }
  }
  const isAuthorized = (request: http.IncomingMessage): boolean =>
    hasPassword(request.headers['proxy-authorization'], password)

  const server = http.createServer({ maxHeaderSize: 32 * 1024 })
  server.maxConnections = MAX_CONNECTIONS
  server.on('connection', trackSocket)
  server.on('connect', (request, client: Duplex, head: Buffer) => {
    if (!isAuthorized(request)) return void client.end(AUTH_REQUIRED)
    client.unshift(head)
    void tunnel({ target: request.url ?? '', resolveChecked, client, trackSocket, use }).catch((thrown) => {
      const { status, text } = failureResponse(thrown)
      client.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\ncontent-type: text/plain\r\n\r\n${text}`)
    })
  })
  server.on('request', (request, response) => {
    if (!isAuthorized(request))
      return void response.writeHead(407, { 'proxy-authenticate': 'Basic realm="tireless"' }).end()
    void forward(request, response, resolveChecked, use).catch((thrown) => {
      const { status, text } = failureResponse(thrown)
      if (response.headersSent) response.destroy()
      else response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    if (at === undefined) server.listen(0, '127.0.0.1', resolve)
    else server.listen(at, resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  return {
    ...{ port, user: USER, password },
    refusals: () => refusals.splice(0),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/**
 * The response to a client without the password. It must announce that the connection closes: only then does git open a
 * second connection and send its credentials there.
 */
const AUTH_REQUIRED =
  'HTTP/1.1 407 Proxy Authentication Required\r\n' +
  'proxy-authenticate: Basic realm="tireless"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'

function hasPassword(header: string | undefined, password: string): boolean {
  const expected = Buffer.from(`Basic ${Buffer.from(`${USER}:${password}`).toString('base64')}`)
  const firstChunk = Buffer.from(header ?? '')
  return firstChunk.length === expected.length && timingSafeEqual(firstChunk, expected)
}

type ResolveChecked = (place: HostPort) => Promise<readonly string[]>

interface Tunnel {
  readonly target: string
  readonly resolveChecked: ResolveChecked
  readonly client: Duplex
  readonly trackSocket: (socket: Duplex) => void
  readonly use: Deps['use']
}

async function tunnel({ target, resolveChecked, client, trackSocket, use }: Tunnel): Promise<void> {
  const place = parseHostPort(target)
  if (place.kind === 'refused') throw egressRefusedError(place.why)
  const upstream = await connectFirst(place.value, await resolveChecked(place.value), trackSocket)
  const endClient = (): void => void client.destroy()
  upstream.setTimeout(IDLE_MS, () => upstream.destroy())
  client.once('close', () => upstream.destroy())
  upstream.once('close', endClient)
  client.write('HTTP/1.1 200 Connection established\r\n\r\n')
  // A read-only tunnel must be encrypted: plain bytes could be a request that changes something.
  if (use === 'read' && (await peekByte(client)) !== TLS_HANDSHAKE) {
    upstream.off('close', endClient).destroy()
    throw new RefusedByProxy('only_read', place.value, `${ONLY_READ}: a tunnel may carry only TLS`)
  }
  upstream.pipe(client).pipe(upstream)
}

const TLS_HANDSHAKE = 0x16

/** Contract: the first byte, which stays unread; undefined if the socket ends without one. */
async function peekByte(socket: Duplex): Promise<number | undefined> {
  const hasEnded = (): boolean => socket.destroyed || socket.readableEnded
  for (;;) {
    const firstChunk: unknown = socket.read(1)
    if (Buffer.isBuffer(firstChunk)) {
      socket.unshift(firstChunk)
      return firstChunk[0]
    }
    if (hasEnded()) return undefined
    await new Promise<void>((resolve) => {
      for (const event of ['readable', 'end', 'close']) socket.once(event, () => resolve())
    })
  }
}

async function connectFirst(
  place: HostPort,
  ips: readonly string[],
  trackSocket: (socket: Duplex) => void,
): Promise<net.Socket> {
  let last: unknown
  for (const ip of ips) {
    const socket = net.connect({ host: ip, port: place.port })
    trackSocket(socket)
    try {
      await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
      return socket
    } catch (thrown) {
      last = thrown
    }
  }
  throw last
}

async function forward(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  resolveChecked: ResolveChecked,
  use: Deps['use'],
): Promise<void> {
  const address = parseHttpAddress(request.url ?? '')
  if (address.kind === 'refused') throw egressRefusedError(address.why)
  const to = address.value
  if (to.scheme !== 'http') throw egressRefusedError('only http is allowed without CONNECT')
  const [ip = ''] = await resolveChecked(to)
  if (use === 'read' && !isReadRequest(request, to))
    throw new RefusedByProxy('only_read', to, `${ONLY_READ}: ${request.method} is not allowed`)
  const { pathname, search, host } = new URL(to.url)
  const upstream = http.request({
    ...{ host: ip, port: to.port, method: request.method ?? 'GET', path: `${pathname}${search}` },
    ...{
      agent: false,
      setHost: false,
      timeout: IDLE_MS,
      headers: { ...withoutHopByHop(request.headers), ...framing(request), host, connection: 'close' },
    },
  })
  upstream.once('timeout', () => upstream.destroy())
  response.once('close', () => upstream.destroy())
  const upstreamResponse = await new Promise<http.IncomingMessage>((resolve, reject) => {
    upstream.once('response', resolve).once('error', reject)
    request.pipe(upstream)
  })
  upstreamResponse.once('error', () => response.destroy())
  response.writeHead(upstreamResponse.statusCode ?? 502, withoutHopByHop(upstreamResponse.headers))
  upstreamResponse.pipe(response)
}

/**
 * Keeps the chunked encoding of a request body. Without the header, the body of a GET would be sent unframed and could
 * be read as a second request.
 */
const framing = ({ headers }: http.IncomingMessage): http.OutgoingHttpHeaders =>
  headers['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' }

function isReadRequest({ method = '', headers }: http.IncomingMessage, { url }: Address): boolean {
  const { pathname, searchParams } = new URL(url)
  if (method === 'POST')
    return pathname.endsWith('/git-upload-pack') && headers['content-type'] === 'application/x-git-upload-pack-request'
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
  return /^(?:GET|HEAD)$/.test(method) && !hasBody && !searchParams.getAll('service').includes('git-receive-pack')
}

function withoutHopByHop(headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name)))
}
