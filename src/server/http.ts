/** HTTP on the configured address: health and metrics, the API made from the commands, live events, the page. */

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context as Asked, Hono } from 'hono'
import { setCookie } from 'hono/cookie'
import { z } from 'zod'
import type { Command, Context } from '../commands/command.ts'
import { execute } from '../commands/execute.ts'
import { TirelessError } from '../domain/error.ts'
import type { Sink } from '../ports/sink.ts'
import { type Access, bracketed, createAccess, isLoopback } from './access.ts'
import { answerOf, refusal } from './answer.ts'
import { bodyOf, textOf } from './body.ts'
import { API, type Endpoint, endpointsOf, inputOfQuery, refuseRelativePaths } from './endpoints.ts'
import {
  cookieName,
  credentialIn,
  type Env,
  HEADERS,
  onlyJson,
  onlyOwner,
  onlyUs,
  shownIn,
  withHeaders,
  wrongToken,
} from './guard.ts'
import { hookReceived } from './hooks.ts'
import { createLive, type Live } from './live.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { openApi } from './openapi.ts'
import { NOT_BUILT, type PageFile, pageFiles } from './page.ts'
import { pulse } from './pulse.ts'
import { teller } from './telling.ts'

const COOKIE_SECONDS = 30 * 24 * 3600
const MOST_VIEWERS = 64
/** How long requests that are open at the end are waited for. */
const CLOSE_MS = 2000

export interface HttpOptions {
  readonly host: string
  /** 0: any that is free. */
  readonly port: number
  /** Contract: as it is in this moment; undefined where nobody can come in. */
  readonly token: () => string | undefined
  /** Makes one that nobody can guess. */
  readonly secret: () => string
  readonly commands: readonly Command[]
  readonly context: Context
  /** The folder of the built page. */
  readonly page: string
  /** Contract: hears of what went wrong in here. */
  readonly failed: (error: TirelessError, path: string) => void
}

export interface HttpServer {
  /** Where it is. */
  readonly url: string
  /** Whether only this machine can reach it. */
  readonly loopback: boolean
  /** Hears what runs do. */
  readonly sink: Sink
  /** Contract: where a browser is let in by itself, once and for a short time; the secret is in the part that browsers send nobody. */
  loginUrl(): string
  /** Contract: takes no new request, gives the open ones a moment to be answered, ends the streams. */
  close(): Promise<void>
}

/** Contract: listens when it resolves; `conflict` where the address is taken. */
export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  const { host, context, token, secret } = options
  const access = createAccess({ token, secret, clock: context.clock })
  const live = createLive({ clock: context.clock, life: context.ids.next().slice(-12), token })
  const metrics = createMetrics(live.viewers)
  const { fetch } = routes({ ...options, access, live, metrics, files: pageFiles(options.page) })
  // The package's own Request and Response are quicker, and would be everybody's in this process.
  const server = createAdaptorServer({ fetch, hostname: host, overrideGlobalObjects: false }) as Server
  const { port } = await listening(server, options)
  const closing = new AbortController()
  const pulsing = pulse(context, live, statusOf(options), closing.signal)
  const name = isWildcard(host) ? '127.0.0.1' : bracketed(host)
  const url = `http://${name}:${port}`
  return {
    url,
    loopback: isLoopback(host),
    sink: teller(context.redact, live.tell, live.isFollowed),
    loginUrl: () => `${url}/#code=${access.newCode()}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      closing.abort()
      live.close()
      metrics.close()
      const over = new AbortController()
      await Promise.race([closed, context.clock.sleep(CLOSE_MS, over.signal)])
      over.abort()
      // Whoever asked and was not answered yet: what they asked for is durable.
      server.closeAllConnections()
      await Promise.all([closed, pulsing])
    },
  }
}

const isWildcard = (host: string): boolean => ['0.0.0.0', '::', '[::]'].includes(host)

const FIXES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'end what listens there, or set server.port to another one (0: any that is free)',
  EACCES: 'set server.port to one above 1023',
}

function listening(server: Server, { host, port }: HttpOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new TirelessError(
          'conflict',
          {
            what: cause.code === 'EADDRINUSE' ? `port ${port} is taken` : 'it cannot listen there',
            where: `server ${bracketed(host)}:${port}`,
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

interface Inside extends HttpOptions {
  readonly access: Access
  readonly live: Live
  readonly metrics: Metrics
  readonly files: ReadonlyMap<string, PageFile>
}

const statusOf =
  ({ commands, context }: HttpOptions) =>
  async (): Promise<unknown> => {
    const status = commands.find(({ name }) => name === 'status')
    return status && execute(status, context, {}, () => {})
  }

function routes(inside: Inside): Hono<Env> {
  const { host, access, commands, failed } = inside
  const endpoints = endpointsOf(commands)
  const app = new Hono<Env>()
  app.use(withHeaders, onlyUs(host))
  openRoutes(app, inside)
  app.get(`${API}/login`, (c) => c.json({ ok: credentialIn(c, access) !== undefined }))
  app.post(`${API}/login`, onlyJson, (c) => login(c, access))
  // Before the token is asked for: a channel has its own way to know who sends.
  app.post(`${API}/hooks/:name`, onlyJson, async (c) =>
    c.json(
      await hookReceived(inside.context, c.req.param('name'), {
        headers: c.req.header(),
        body: await textOf(c.env.incoming),
      }),
    ),
  )
  app.use(`${API}/*`, onlyOwner(access))
  app.get(`${API}/events`, (c) => watch(c, inside))
  app.get(`${API}/openapi.json`, (c) => c.json(openApi(endpoints)))
  for (const endpoint of endpoints) mount(app, endpoint, inside.context)
  app.notFound((c) => {
    const known = endpoints.find(({ path }) => path === c.req.path)
    throw known
      ? refusal(405, { what: 'it is asked for otherwise', got: c.req.method, expected: known.method })
      : new TirelessError('not_found', {
          what: 'there is nothing here',
          got: c.req.path,
          fix: `see: ${API}/openapi.json`,
        })
  })
  app.onError((thrown, c) => {
    const { status, body } = answerOf(thrown)
    if (status === 500) failed(new TirelessError(body.error.code, body.error.message, { cause: thrown }), c.req.path)
    return c.json(body, status)
  })
  return app
}

function openRoutes(app: Hono<Env>, inside: Inside): void {
  const { context, access, metrics, files } = inside
  const status = statusOf(inside)
  const open = onlyOwner(access, { loopback: true })
  app.get('/healthz', open, async (c) => {
    const { ok, reasons } = await context.health()
    return c.json({ ok, reasons }, ok ? 200 : 503)
  })
  app.get('/readyz', open, (c) => {
    const reasons = [
      ...(context.signals.drain.aborted ? ['it is being stopped'] : []),
      ...(context.draining() ? [] : ['the queue is not worked']),
    ]
    return c.json({ ok: reasons.length === 0, reasons }, reasons.length === 0 ? 200 : 503)
  })
  app.get('/metrics', open, async (c) =>
    c.body(metrics.text(await status()), 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }),
  )
  if (files.size === 0) app.get('/', (c) => c.text(NOT_BUILT, 503))
  for (const [path, { body, headers }] of files)
    app.get(path, (c) =>
      headers.ETag !== undefined && c.req.header('if-none-match') === headers.ETag
        ? c.body(null, 304, headers)
        : c.body(body, 200, headers),
    )
}

const LOGIN = z.strictObject({ token: z.string().optional(), code: z.string().optional() })

async function login(c: Asked<Env>, access: Access): Promise<Response> {
  const shown = LOGIN.safeParse(await bodyOf(c.env.incoming))
  const value = shown.success ? access.login(shown.data) : undefined
  if (value === undefined)
    throw wrongToken(c, access, {
      what: 'neither the token nor a code that is still good',
      expected: '{"token": "…"} or {"code": "…"}',
      fix: 'take the token from the file `token` of the home',
    })
  setCookie(c, cookieName(c), value, { httpOnly: true, sameSite: 'Strict', path: '/', maxAge: COOKIE_SECONDS })
  return c.json({ ok: true })
}

/** Written straight to the connection: one buffer for all viewers, and what is not taken can be seen. */
function watch(c: Asked<Env>, { live, access }: Inside): Response {
  if (live.viewers() >= MOST_VIEWERS)
    throw refusal(503, { what: 'too many watch already', expected: `at most ${MOST_VIEWERS}`, fix: 'close some' })
  if (c.req.method === 'HEAD') return c.body(null)
  const { outgoing } = c.env
  const shown = shownIn(c)
  outgoing.writeHead(200, { ...HEADERS, 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
  const leave = live.join(
    {
      send: (chunk) => outgoing.write(chunk),
      behind: () => outgoing.writableLength,
      drop: () => outgoing.destroy(),
      isAuthorized: () => access.credentialOf(shown) !== undefined,
    },
    c.req.header('last-event-id'),
  )
  outgoing.once('close', leave)
  return RESPONSE_ALREADY_SENT
}

function mount(app: Hono<Env>, { command, method, path }: Endpoint, context: Context): void {
  app.on(method, path, onlyJson, async (c) => {
    const input = method === 'GET' ? inputOfQuery(command, c.req.queries()) : await bodyOf(c.env.incoming)
    refuseRelativePaths(command, input)
    return c.json((await execute(command, context, input, () => {})) ?? null)
  })
}
