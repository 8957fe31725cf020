/** WebSockets of sources: the source verifies the client; each text frame is one event, answered when it is on disk. */

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Needs } from '../commands/lib/context.ts'
import { type ErrorParts, TirelessError } from '../domain/error.ts'
import { withDeadline } from '../ports/deadline.ts'
import type { OpenConnection } from '../ports/source.ts'
import { isOwnHost, type LocalAddress } from './auth.ts'
import { API } from './endpoints.ts'
import { errorResponse, httpError } from './error-response.ts'

type SocketNeeds = Needs<'clock' | 'sources'>

interface WebSockets {
  /** Contract: whether the request asks for a WebSocket of a source. Other upgrades are answered as plain requests. */
  accepts(request: IncomingMessage): boolean
  /** Contract: opens the WebSocket, or answers with an error; never throws. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void
  /** Contract: says goodbye to all clients; none is left when it resolves. */
  close(): Promise<void>
}

const PATH = new RegExp(`^${API}/hooks/([^/?]+)(?:\\?|$)`)
const MOST_CONNECTIONS = 64
/** A client that does not answer a ping until the next one is gone. */
const PING_MS = 30_000
/** How long clients may take to say goodbye. */
const CLOSE_MS = 1000
/** A client that does not read its answers is cut off. */
const MOST_UNSENT_BYTES = 1024 * 1024
const GOING_AWAY = 1001

/** `host`: the configured host name. `failed`: called with every internal error. */
export function createWebSockets(
  context: SocketNeeds,
  host: string,
  failed: (error: TirelessError, path: string) => void,
): WebSockets {
  const open = new Map<WebSocket, Promise<void>>()
  const refuse = (thrown: unknown, path: string, socket: Socket): void => {
    const { status, body, retryAfter } = errorResponse(thrown)
    if (status === 500) failed(new TirelessError(body.error.code, body.error.message, { cause: thrown }), path)
    answerPlainly(socket, status, body, retryAfter)
  }
  const admit = async (request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> => {
    const name = nameIn(request) ?? ''
    const headers = verifiedHeaders(request, { host, port: socket.localPort ?? 0, address: socket.localAddress ?? '' })
    const source = context.sources.find(name, 'connect')
    if (!source) throw new TirelessError('not_found', { what: 'no such WebSocket', got: name })
    if (open.size >= MOST_CONNECTIONS) throw httpError(503, TOO_MANY)
    const connection = await context.sources.connect(name, { headers, now: context.clock.now() })
    const server = new WebSocketServer({
      ...{ noServer: true, clientTracking: false, perMessageDeflate: false },
      ...(source.mostBytes === undefined ? {} : { maxPayload: source.mostBytes }),
    })
    server.handleUpgrade(request, socket, head, (client) => {
      const ended = serve(client, connection, context).finally(() => open.delete(client))
      open.set(client, ended)
    })
  }
  return {
    accepts: (request) => /^websocket$/i.test(request.headers.upgrade ?? '') && nameIn(request) !== undefined,
    upgrade(request, socket, head) {
      const onError = (): void => {}
      socket.on('error', onError)
      admit(request, socket, head).then(
        () => socket.removeListener('error', onError),
        (thrown) => refuse(thrown, request.url ?? '', socket),
      )
    },
    async close() {
      for (const client of open.keys()) client.close(GOING_AWAY, 'the server stops')
      await withDeadline({ clock: context.clock, ms: CLOSE_MS }, () => Promise.all(open.values()))
      for (const client of open.keys()) client.terminate()
      await Promise.all(open.values())
    },
  }
}

const TOO_MANY: ErrorParts = {
  what: 'too many WebSockets',
  expected: `at most ${MOST_CONNECTIONS}`,
  fix: 'close another one',
}

function nameIn({ url = '' }: IncomingMessage): string | undefined {
  const [, name] = PATH.exec(url) ?? []
  return name
}

/**
 * The headers, without an origin of our own page. A page cannot set headers of a WebSocket, so timestamp and signature
 * may be parameters.
 */
function verifiedHeaders(request: IncomingMessage, own: LocalAddress): Record<string, string | undefined> {
  const { origin, ...rest } = request.headers
  if (!isOwnHost(rest.host, own))
    throw new TirelessError('forbidden', { what: 'unknown host name', where: 'Host', got: rest.host ?? 'none' })
  const isOwnPage = origin?.startsWith('http://') && isOwnHost(origin.slice('http://'.length), own)
  const { searchParams } = new URL(request.url ?? '', 'http://localhost')
  const parameters = ['timestamp', 'signature'].flatMap((name) => {
    const value = searchParams.get(name)
    return value === null ? [] : [[`x-tireless-${name}`, value] as const]
  })
  const given = Object.entries({ ...rest, ...(isOwnPage ? {} : { origin }) })
  const headers = given.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value] as const)
  return { ...Object.fromEntries(parameters), ...Object.fromEntries(headers) }
}

function answerPlainly(socket: Socket, status: number, body: object, retryAfter: number | undefined): void {
  const text = JSON.stringify(body)
  const lines = [
    `HTTP/1.1 ${status} Refused`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...(retryAfter === undefined ? [] : [`Retry-After: ${retryAfter}`]),
    'Connection: close',
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`)
}

/** Contract: resolves when the client has gone; never rejects. */
function serve(client: WebSocket, connection: OpenConnection, { clock }: SocketNeeds): Promise<void> {
  const gone = new AbortController()
  const closed = new Promise<void>((resolve) => client.once('close', () => resolve(gone.abort())))
  const leave = (): void => client.close(GOING_AWAY, 'the source stops')
  connection.closed.addEventListener('abort', leave, { signal: gone.signal })
  if (connection.closed.aborted) leave()
  // An oversized or malformed frame closes the connection; the error has no other consequence.
  client.on('error', () => {})
  readFrames(client, connection, clock, gone.signal)
  void keepAlive(client, clock, gone.signal)
  return closed
}

/** Reads nothing while a frame is stored or the client is too fast, so the client's own sending stalls. */
function readFrames(client: WebSocket, connection: OpenConnection, clock: SocketNeeds['clock'], gone: AbortSignal) {
  const waiting: (string | undefined)[] = []
  let isBusy = false
  let period = { since: clock.monotonic(), frames: 0 }
  const handle = async (frame: string | undefined): Promise<void> => {
    const now = clock.monotonic()
    if (now - period.since >= 1000) period = { since: now, frames: 0 }
    else if (period.frames >= connection.framesPerSecond) {
      await clock.sleep(period.since + 1000 - now, gone)
      period = { since: clock.monotonic(), frames: 0 }
    }
    period.frames += 1
    const answer = frame === undefined ? NOT_TEXT : await connection.receive(frame)
    if (client.readyState !== client.OPEN) return
    client.send(JSON.stringify(answer), () => {})
    if (client.bufferedAmount > MOST_UNSENT_BYTES) client.terminate()
  }
  const work = async (): Promise<void> => {
    isBusy = true
    client.pause()
    // Frames that have arrived are stored even if the client has gone: it may have sent them and closed at once.
    while (waiting.length > 0) await handle(waiting.shift())
    isBusy = false
    if (!gone.aborted) client.resume()
  }
  client.on('message', (data: Buffer, isBinary: boolean) => {
    waiting.push(isBinary ? undefined : data.toString('utf8'))
    if (!isBusy) void work()
  })
}

const NOT_TEXT = { error: { code: 'usage', message: 'a binary frame was received; expected a text frame' } }

async function keepAlive(client: WebSocket, clock: SocketNeeds['clock'], gone: AbortSignal): Promise<void> {
  let isAlive = true
  client.on('pong', () => {
    isAlive = true
  })
  while (!gone.aborted) {
    await clock.sleep(PING_MS, gone)
    // While nothing is read, a pong cannot arrive.
    if (gone.aborted || client.isPaused) continue
    if (!isAlive) return client.terminate()
    isAlive = false
    client.ping(() => {})
  }
}
