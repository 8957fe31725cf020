/**
 * A forward proxy on this machine's loopback for one program that makes its own requests (a browser, git). It resolves names itself, once per
 * connection, and connects to what was judged; who does not know its password is not served.
 */

import { timingSafeEqual } from 'node:crypto'
import http from 'node:http'
import net from 'node:net'
import type { Duplex } from 'node:stream'
import { addressOf, type Place, placeOf, placeText } from '../../domain/address.ts'
import { asTirelessError } from '../../domain/error.ts'
import { type EgressProxy, UNNAMED } from '../../ports/egress.ts'
import { egressRefused, type Reach } from './reach.ts'

const USER = 'tireless'
/** A connection on which nothing is said for so long is closed. */
const IDLE_MS = 60_000
const MOST_REFUSALS = 50
/** What belongs to one connection is not handed on to the next. */
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

interface Parts {
  admits(place: Place): boolean
  readonly reach: Reach
  readonly password: string
  /** A socket file to listen on; without one, a port of the loopback. */
  readonly at: string | undefined
}

export async function openProxy({ admits, reach, password, at }: Parts): Promise<EgressProxy> {
  const told: string[] = []
  const open = new Set<Duplex>()
  const keep = (socket: Duplex): void => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    socket.on('error', () => socket.destroy())
  }
  const judged = async (place: Place): Promise<readonly string[]> => {
    if (!admits(place)) throw egressRefused(`${placeText(place)} ${UNNAMED}`)
    return reach(place)
  }
  /** Contract: what to answer where it was refused. */
  const refusal = (thrown: unknown): { status: number; text: string } => {
    const { code, message } = asTirelessError(thrown)
    if (told.length < MOST_REFUSALS) told.push(message)
    return { status: code === 'egress_refused' ? 403 : 502, text: message }
  }
  const known = (request: http.IncomingMessage): boolean => isKnown(request.headers['proxy-authorization'], password)

  const server = http.createServer({ maxHeaderSize: 32 * 1024 })
  server.on('connection', keep)
  server.on('connect', (request, client: Duplex, head: Buffer) => {
    if (!known(request)) return void client.end(UNKNOWN)
    void tunnel(request.url ?? '', judged, client, head, keep).catch((thrown) => {
      const { status, text } = refusal(thrown)
      client.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\ncontent-type: text/plain\r\n\r\n${text}`)
    })
  })
  server.on('request', (request, response) => {
    if (!known(request)) return void response.writeHead(407, { 'proxy-authenticate': 'Basic realm="tireless"' }).end()
    void forward(request, response, judged).catch((thrown) => {
      const { status, text } = refusal(thrown)
      if (response.headersSent) response.destroy()
      else response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    if (at === undefined) server.listen(0, '127.0.0.1', resolve)
    else server.listen(at, resolve)
  })
  const heard = server.address()
  const port = typeof heard === 'object' ? (heard?.port ?? 0) : 0
  return {
    ...{ port, user: USER, password },
    refusals: () => told.splice(0),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}

const UNKNOWN =
  'HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic realm="tireless"\r\ncontent-length: 0\r\n\r\n'

function isKnown(header: string | undefined, password: string): boolean {
  const expected = Buffer.from(`Basic ${Buffer.from(`${USER}:${password}`).toString('base64')}`)
  const got = Buffer.from(header ?? '')
  return got.length === expected.length && timingSafeEqual(got, expected)
}

type Judged = (place: Place) => Promise<readonly string[]>

async function tunnel(
  target: string,
  judged: Judged,
  client: Duplex,
  head: Buffer,
  keep: (socket: Duplex) => void,
): Promise<void> {
  const place = placeOf(target)
  if (place.kind === 'refused') throw egressRefused(place.why)
  const far = await connected(place.value, await judged(place.value), keep)
  far.setTimeout(IDLE_MS, () => far.destroy())
  client.write('HTTP/1.1 200 Connection established\r\n\r\n')
  if (head.length > 0) far.write(head)
  far.pipe(client).pipe(far)
  client.once('close', () => far.destroy())
  far.once('close', () => client.destroy())
}

async function connected(place: Place, ips: readonly string[], keep: (socket: Duplex) => void): Promise<net.Socket> {
  let last: unknown
  for (const ip of ips) {
    const socket = net.connect({ host: ip, port: place.port })
    keep(socket)
    try {
      await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
      return socket
    } catch (thrown) {
      last = thrown
    }
  }
  throw last
}

async function forward(request: http.IncomingMessage, response: http.ServerResponse, judged: Judged): Promise<void> {
  const address = addressOf(request.url ?? '')
  if (address.kind === 'refused') throw egressRefused(address.why)
  const to = address.value
  if (to.scheme !== 'http') throw egressRefused('only http is asked for in the open')
  const [ip = ''] = await judged(to)
  const { pathname, search, host } = new URL(to.url)
  const far = http.request({
    ...{ host: ip, port: to.port, method: request.method ?? 'GET', path: `${pathname}${search}` },
    ...{
      agent: false,
      setHost: false,
      timeout: IDLE_MS,
      headers: { ...without(request.headers), host, connection: 'close' },
    },
  })
  far.once('timeout', () => far.destroy())
  response.once('close', () => far.destroy())
  const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
    far.once('response', resolve).once('error', reject)
    request.pipe(far)
  })
  answer.once('error', () => response.destroy())
  response.writeHead(answer.statusCode ?? 502, without(answer.headers))
  answer.pipe(response)
}

function without(headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name)))
}
