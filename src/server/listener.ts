/** Node's HTTP server around the routes: what cannot even become a request is refused here, with the same headers. */

import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { getRequestListener, RequestError } from '@hono/node-server'
import { TirelessError } from '../domain/error.ts'
import { errorResponse } from './error-response.ts'
import { HEADERS } from './middleware.ts'

type Fetch = Parameters<typeof getRequestListener>[0]

interface ListenerOptions {
  /** The name of the server if a request has none. */
  readonly host: string
  readonly fetch: Fetch
  /** Contract: whether the request asks for an upgrade that the server offers. */
  readonly acceptsUpgrade: (request: IncomingMessage) => boolean
  /** Contract: called with every internal error. */
  readonly failed: (error: TirelessError, path: string) => void
}

export function createListener({ host, fetch, acceptsUpgrade, failed }: ListenerOptions): Server {
  const errorHandler = (thrown: unknown): Response => {
    const { status, body } = errorResponse(
      thrown instanceof RequestError ? new TirelessError('usage', MALFORMED) : thrown,
    )
    if (status === 500) failed(new TirelessError(body.error.code, body.error.message, { cause: thrown }), '')
    return Response.json(body, { status, headers: { ...HEADERS, 'Cache-Control': 'no-store' } })
  }
  // Keeps the adapter from replacing the global Request and Response of the whole process by its own.
  const listener = getRequestListener(fetch, { hostname: host, overrideGlobalObjects: false, errorHandler })
  const server = createServer({ shouldUpgradeCallback: acceptsUpgrade }, listener)
  server.maxConnections = MAX_CONNECTIONS
  return server
}

/**
 * Contract: the result closes the connections on which no request has begun. Browsers open such connections ahead of
 * their requests, and Node's `close` waits for them.
 */
export function trackUnused(server: Server): () => void {
  const unused = new Set<Socket>()
  server.on('connection', (socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  for (const event of ['request', 'upgrade'] as const)
    server.on(event, ({ socket }: IncomingMessage) => unused.delete(socket))
  return () => {
    for (const socket of unused) socket.destroy()
  }
}

/** More are closed at once: each takes a file descriptor, which the work of the kernel needs, too. */
const MAX_CONNECTIONS = 512

const MALFORMED = { what: 'the address or the host name of the request is malformed' }
