/** The HTTP server: health and metrics, an API of all commands, live events, webhooks, the page. */

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Hono, type Context as HonoContext } from 'hono'
import { setCookie } from 'hono/cookie'
import { z } from 'zod'
import type { Command } from '../commands/lib/command.ts'
import type { CommandContext } from '../commands/lib/context.ts'
import { validateAndRun } from '../commands/lib/validate-and-run.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import { withDeadline } from '../ports/deadline.ts'
import type { RunSink } from '../ports/run-sink.ts'
import type { RedactedRecords } from '../trace/redacted-records.ts'
import { type Authentication, createAuthentication, isLoopback, urlHost } from './auth.ts'
import { API, createEndpoints, type Endpoint, inputFromQuery, refuseRelativePaths } from './endpoints.ts'
import { errorResponse, httpError } from './error-response.ts'
import { EventStream } from './event-stream.ts'
import { streamEvents } from './event-viewer.ts'
import { createHookReader } from './hook-body.ts'
import { createListener, trackUnused } from './listener.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import {
  cookieName,
  findCredential,
  type HonoEnv,
  requireJson,
  requireOwner,
  requireOwnHost,
  withHeaders,
  wrongToken,
} from './middleware.ts'
import { openApi } from './openapi.ts'
import { redactingSink } from './redacting-sink.ts'
import { readJsonBody } from './request-body.ts'
import { NOT_BUILT, type PageFiles, pageFiles, sendPageFile } from './static-files.ts'
import { broadcastStatus } from './status-broadcast.ts'
import { sendTrace } from './trace-download.ts'
import { createWebSockets } from './web-sockets.ts'
import { receiveWebhook } from './webhooks.ts'
import { sendWorkspaceFile } from './workspace-file.ts'

const COOKIE_SECONDS = 30 * 24 * 3600
/** How long open requests may take when the server closes. */
const CLOSE_MS = 2000

interface HttpOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Contract: the current token; undefined: there is none, so all logins are refused. */
  readonly token: () => string | undefined
  /** Contract: a new random secret. */
  readonly secret: () => string
  readonly commands: readonly Command[]
  readonly context: CommandContext
  readonly records: RedactedRecords
  /** Folder of the built page. */
  readonly page: string
  /** Contract: called with every internal error. */
  readonly failed: (error: TirelessError, path: string) => void
  /** Called when a viewer wants events; its result, when none has wanted them for a while. */
  readonly onWanted?: () => () => void
}

export interface HttpServer {
  readonly url: string
  /** Whether only this machine can reach the server. */
  readonly loopback: boolean
  /** Receives the records and deltas of runs, and sends them to viewers as events. */
  readonly sink: RunSink & { onSkipped(): void }
  /** Contract: a login link, valid once and for minutes. Its code is in the fragment, which browsers do not send. */
  loginUrl(): string
  /** Contract: accepts no new requests, waits up to CLOSE_MS for open ones, ends the event streams. */
  close(): Promise<void>
}

/** Contract: the server listens when it resolves; throws `conflict` if the address cannot be used. */
export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  const { host, context, token, secret, onWanted = () => () => {} } = options
  const access = createAuthentication({ token, secret, clock: context.clock })
  const onFailed = (thrown: unknown): void => options.failed(asTirelessError(thrown), EVENTS_PATH)
  const idPrefix = context.ids.next().slice(-12)
  const live = new EventStream({ clock: context.clock, idPrefix, token, onWanted, onFailed })
  const metrics = createMetrics(() => live.viewers())
  const { fetch } = routes({ ...options, access, live, metrics, files: pageFiles(options.page) })
  const sockets = createWebSockets(context, host, options.failed)
  const server = createListener({ host, fetch, acceptsUpgrade: sockets.accepts, failed: options.failed })
  server.on('upgrade', sockets.upgrade)
  const closeUnused = trackUnused(server)
  const { port } = await listen(server, options)
  const closing = new AbortController()
  const broadcast = broadcastStatus(context, live, statusReader(options), closing.signal)
  const name = isWildcard(host) ? '127.0.0.1' : urlHost(host)
  const url = `http://${name}:${port}`
  return {
    url,
    loopback: isLoopback(host),
    sink: { ...redactingSink(context.redact, options.records, live), onSkipped: () => live.reset() },
    loginUrl: () => `${url}/#code=${access.newCode()}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      closeUnused()
      closing.abort()
      live.close()
      metrics.close()
      await sockets.close()
      await withDeadline({ clock: context.clock, ms: CLOSE_MS }, () => closed)
      // Unanswered requests are dropped; work that a command has queued is on disk and is not lost.
      server.closeAllConnections()
      await Promise.all([closed, broadcast])
    },
  }
}

const isWildcard = (host: string): boolean => ['0.0.0.0', '::', '[::]'].includes(host)

const FIXES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'stop the program that uses the port, or set another server.port in tireless.yaml (0: any free port)',
  EACCES: 'set server.port to a port above 1023',
}

function listen(server: Server, { host, port }: HttpOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new TirelessError(
          'conflict',
          {
            what: cause.code === 'EADDRINUSE' ? `port ${port} is in use` : 'cannot listen on this address',
            where: `server ${urlHost(host)}:${port}`,
            got: cause.message,
            fix: FIXES[cause.code ?? ''] ?? 'set server.host to an address of this machine, such as 127.0.0.1',
          },
          { cause },
        ),
      ),
    )
    server.listen({ host: host.replace(/^\[(.*)\]$/, '$1'), port }, () => resolve(server.address() as AddressInfo))
  })
}

interface RouteDeps extends HttpOptions {
  readonly access: Authentication
  readonly live: EventStream
  readonly metrics: Metrics
  readonly files: PageFiles
}

const statusReader =
  ({ commands, context }: HttpOptions) =>
  async (): Promise<unknown> => {
    const status = commands.find(({ name }) => name === 'status')
    return status && validateAndRun(status, context, {}, () => {})
  }

const EVENTS_PATH = `${API}/events`
const FILES_PATH = `${API}/files`
const DOWNLOAD_PATH = `${API}/trace/download`
const OPENAPI_PATH = `${API}/openapi.json`

function routes(deps: RouteDeps): Hono<HonoEnv> {
  const { host, access, commands, failed } = deps
  const endpoints = createEndpoints(commands)
  const readHookBody = createHookReader(deps.context)
  const app = new Hono<HonoEnv>()
  app.use(withHeaders, requireOwnHost(host))
  addOpenRoutes(app, deps)
  app.get(`${API}/login`, (c) => c.json({ ok: findCredential(c, access) !== undefined }))
  app.post(`${API}/login`, requireJson, (c) => login(c, access))
  // This route precedes authentication, because channels and sources verify their senders themselves.
  app.post(`${API}/hooks/:name`, requireJson, async (c) => {
    const name = c.req.param('name')
    const source = deps.context.sources.find(name, 'receive')
    const headers = c.req.header()
    const body = await readHookBody(name, { headers, incoming: c.env.incoming, most: source?.mostBytes })
    const request = { headers, body }
    const answer: unknown = await receiveWebhook(deps.context, name, request, source !== undefined)
    return c.json(answer as object)
  })
  app.use(`${API}/*`, requireOwner(access))
  app.get(EVENTS_PATH, (c) => streamEvents(c, deps))
  app.get(FILES_PATH, (c) => sendWorkspaceFile(c, deps.context))
  app.get(DOWNLOAD_PATH, (c) => sendTrace(c, deps.context))
  app.get(OPENAPI_PATH, (c) => c.json(openApi(endpoints)))
  for (const endpoint of endpoints) mount(app, endpoint, deps.context)
  app.notFound((c) => {
    const index = isPageAddress(c) ? deps.files.get('/') : undefined
    if (index) return sendPageFile(c, index)
    const isRead = [EVENTS_PATH, FILES_PATH, DOWNLOAD_PATH, OPENAPI_PATH].includes(c.req.path)
    const allowed = isRead ? 'GET' : endpoints.find(({ path }) => path === c.req.path)?.method
    if (allowed === undefined)
      throw new TirelessError('not_found', { what: 'no such path', got: c.req.path, fix: `see ${OPENAPI_PATH}` })
    c.header('Allow', allowed)
    throw httpError(405, { what: 'method not allowed', got: c.req.method, expected: allowed })
  })
  app.onError((thrown, c) => {
    const { status, body, retryAfter } = errorResponse(thrown)
    if (retryAfter !== undefined) c.header('Retry-After', String(retryAfter))
    if (status === 500) failed(new TirelessError(body.error.code, body.error.message, { cause: thrown }), c.req.path)
    return c.json(body, status)
  })
  return app
}

function addOpenRoutes(app: Hono<HonoEnv>, deps: RouteDeps): void {
  const { context, access, metrics, files } = deps
  const status = statusReader(deps)
  const open = requireOwner(access, { loopback: true })
  app.get('/healthz', open, async (c) => {
    const { ok, reasons } = await context.health()
    return c.json({ ok, reasons }, ok ? 200 : 503)
  })
  app.get('/readyz', open, async (c) => {
    const reasons = [
      ...(context.signals.drain.aborted ? ['shutting down'] : []),
      ...((await context.isQueueWorked()) ? [] : ['the queue is not being worked']),
    ]
    return c.json({ ok: reasons.length === 0, reasons }, reasons.length === 0 ? 200 : 503)
  })
  app.get('/metrics', open, async (c) =>
    c.body(metrics.text(await status()), 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }),
  )
  if (files.size === 0) app.get('/', (c) => c.text(NOT_BUILT, 503))
  for (const [path, file] of files) app.get(path, (c) => sendPageFile(c, file))
}

/** The page has addresses of its own, such as /runs/ID; the page itself says so if there is nothing at an address. */
const isPageAddress = (c: HonoContext<HonoEnv>): boolean =>
  c.req.method === 'GET' && !c.req.path.startsWith('/api/') && (c.req.header('accept') ?? '').includes('text/html')

const LOGIN = z.strictObject({ token: z.string().optional(), code: z.string().optional() })

async function login(c: HonoContext<HonoEnv>, access: Authentication): Promise<Response> {
  const parsed = LOGIN.safeParse(await readJsonBody(c.env.incoming))
  const value = parsed.success ? access.login(parsed.data) : undefined
  if (value === undefined)
    throw wrongToken(c, access, {
      what: 'wrong token, or wrong or expired code',
      expected: '{"token": "…"} or {"code": "…"}',
      fix: 'use the token from the file `token` of the home',
    })
  setCookie(c, cookieName(c), value, { httpOnly: true, sameSite: 'Strict', path: '/', maxAge: COOKIE_SECONDS })
  return c.json({ ok: true })
}

function mount(app: Hono<HonoEnv>, { command, method, path }: Endpoint, context: CommandContext): void {
  app.on(method, path, requireJson, async (c) => {
    const input = method === 'GET' ? inputFromQuery(command, c.req.queries()) : await readJsonBody(c.env.incoming)
    refuseRelativePaths(command, input)
    return c.json((await validateAndRun(command, context, input, () => {})) ?? null)
  })
}
