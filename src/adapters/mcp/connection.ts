/**
 * A connection to one server. Tries the stateless protocol first, then the older protocol with a handshake (legacy).
 * Only this file uses the SDK's client; it is loaded when the first server is needed.
 */

import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { parseHttpAddress } from '../../domain/address.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Egress } from '../../ports/egress.ts'
import type { ProcessGroup, ProcessStart } from '../../ports/process-start.ts'
import type { ListedTool } from './approved-tools.ts'
import { ChildTransport } from './child-process.ts'
import { guardedFetch } from './guarded-fetch.ts'
import { createResourceAccess, type ResourceAccess } from './resources.ts'
import type { ServerOptions } from './server-options.ts'
import type { McpAnswer } from './tool-result.ts'

/**
 * The outcome of a call. `refused`: the server or the egress guard refused the call; `lost`: the connection failed, and
 * the call may have taken effect; `unheard`: the call did not reach the server.
 */
export type McpCallOutcome =
  | { readonly kind: 'answered'; readonly answer: McpAnswer }
  | { readonly kind: 'refused' | 'lost' | 'unheard'; readonly why: string }

export interface McpConnection {
  /** The protocol version on which client and server agreed. */
  readonly protocol: string
  /** True if the server uses the older protocol with a handshake. */
  readonly legacy: boolean
  tools(signal: AbortSignal): Promise<readonly ListedTool[]>
  /** Contract: throws only if `signal` aborts; then the server is told that the call was cancelled. */
  call(tool: string, args: Readonly<Record<string, Json>>, key: string, signal: AbortSignal): Promise<McpCallOutcome>
  readonly resources: ResourceAccess
  /** Contract: closes the connection; afterwards no process of the server is running. */
  close(): Promise<void>
}

interface ConnectOptions {
  readonly server: ServerOptions
  /** Prepares the start of the child process. */
  start(): Promise<ProcessStart>
  readonly group: ProcessGroup
  readonly clock: Clock
  readonly open: Egress['open']
  /** True if the server is known to need the handshake; then the stateless protocol is not tried. */
  readonly legacy: boolean
  readonly signal: AbortSignal
  /** Called when an attempt to connect starts; earlier stderr lines belong to the previous attempt. */
  onAttempt(): void
  /** Called with each line that the server writes to stderr. */
  onStderr(line: string): void
  /** Called if the connection ends without `close`. */
  onLost(why: string): void
  /** Called when the server reports that its tools have changed. */
  onToolsChanged(): void
}

const CLIENT = { name: 'tireless', version: '1' }
/** If a server does not answer the first stateless request in this time, the handshake is tried. */
const LONGEST_PROBE_MS = 10_000
const PROBE_SHARE = 4
/** The longest delay of a Node timer. Used for calls, because the caller enforces their time limit. */
const NO_TIMEOUT = 2 ** 31 - 1
const MOST_BYTES = 10 * 1024 * 1024
const MOST_TOOLS = 1000
const LONGEST_DESCRIPTION = 8000
const LONGEST_MESSAGE = 1000

/** Contract: throws `tool_failed` with a message that the owner can act on. */
export async function connect(options: ConnectOptions): Promise<McpConnection> {
  const { legacy, signal } = options
  const first = await attempt(options, legacy ? 'legacy' : 'auto')
  if (first.link) return first.link
  // An older server may exit when it gets a request before the handshake.
  const again = !legacy && first.died && !signal.aborted
  const { link, why } = again ? await attempt(options, 'legacy') : first
  if (link) return link
  throw new TirelessError('tool_failed', why)
}

interface Attempt {
  readonly link?: McpConnection
  readonly why: string
  readonly died: boolean
}

/** The configured `start_timeout`, limited to the longest delay of a Node timer: a longer timer would fire at once. */
const startTimeout = ({ server }: ConnectOptions): number => Math.min(server.start_timeout, NO_TIMEOUT)

async function attempt(options: ConnectOptions, mode: 'auto' | 'legacy'): Promise<Attempt> {
  options.onAttempt()
  const { transport, child } = transportFor(options)
  const timeout = startTimeout(options)
  const client = new Client(CLIENT, {
    capabilities: {},
    versionNegotiation: { mode, probe: { timeoutMs: Math.min(LONGEST_PROBE_MS, timeout / PROBE_SHARE) } },
    inputRequired: { autoFulfill: false },
  })
  client.onerror = () => {}
  // The SDK does not abort its first request, so an abort closes the transport.
  const leave = (): void => void transport.close().catch(() => {})
  options.signal.addEventListener('abort', leave, { once: true })
  try {
    await client.connect(transport, { timeout, signal: options.signal })
  } catch (thrown) {
    // Read first: closing the transport ends the process, and that would look like an error of the server.
    const [died, why] = [child?.hasEnded ?? false, describeError(thrown, child, timeout)]
    await transport.close().catch(() => {})
    return { why, died }
  } finally {
    options.signal.removeEventListener('abort', leave)
  }
  return { link: createLink(client, child, options), why: '', died: false }
}

function transportFor({ server, start, group: leash, clock, open, onStderr: said }: ConnectOptions): {
  readonly transport: Transport
  readonly child?: ChildTransport
} {
  if (server.command) {
    const child = new ChildTransport({ start, group: leash, clock, onStderr: said, mostBytes: MOST_BYTES })
    return { transport: child, child }
  }
  const own = parseHttpAddress(server.url ?? '')
  if (own.kind === 'refused')
    throw new TirelessError('tool_failed', {
      ...{
        what: 'the address of the MCP server is not valid',
        where: server.url,
        got: own.why,
        expected: 'http(s)://host/path',
      },
      fix: 'correct the url in mcp_servers',
    })
  const transport = new StreamableHTTPClientTransport(new URL(own.value.url), {
    requestInit: { headers: { ...server.headers } },
    fetch: guardedFetch(open, own.value, MOST_BYTES),
  })
  return { transport }
}

function createLink(client: Client, child: ChildTransport | undefined, options: ConnectOptions): McpConnection {
  const { onLost: lost, onToolsChanged: changed } = options
  const timeout = startTimeout(options)
  let closing = false
  const listen = createListener(client, timeout, changed)
  client.onclose = () => closing || lost(child?.problem ?? 'the connection was closed')
  client.setNotificationHandler('notifications/tools/list_changed', () => changed())
  return {
    protocol: client.getNegotiatedProtocolVersion() ?? 'unknown',
    legacy: client.getProtocolEra() !== 'modern',
    resources: createResourceAccess(client, timeout),
    async tools(signal) {
      listen()
      const { tools } = await client.listTools(undefined, { timeout, signal, cacheMode: 'refresh' }).catch((thrown) => {
        throw new TirelessError('tool_failed', describeError(thrown, child, timeout), { cause: thrown })
      })
      return tools.slice(0, MOST_TOOLS).map(({ name, description = '', inputSchema, annotations }) => ({
        ...{ name, description: description.slice(0, LONGEST_DESCRIPTION), schema: inputSchema as Json },
        readOnly: annotations?.readOnlyHint === true,
      }))
    },
    async call(tool, args, key, signal) {
      const params = { name: tool, arguments: { ...args }, _meta: { 'tireless/idempotency-key': key } }
      try {
        const answer = await client.callTool(params, { signal, timeout: NO_TIMEOUT })
        return { kind: 'answered', answer: answer as McpAnswer }
      } catch (thrown) {
        if (signal.aborted) throw thrown
        return classifyFailure(thrown, child, client.getProtocolEra() !== 'modern')
      }
    },
    async close() {
      closing = true
      await client.close()
      await child?.close()
    },
  }
}

/**
 * Stateless servers report tool changes only to subscribers. Contract: the returned function subscribes, unless that is
 * already done or not needed; it never throws.
 */
function createListener(client: Client, timeout: number, changed: () => void): () => void {
  let isSubscribed = client.getProtocolEra() !== 'modern' || client.getServerCapabilities()?.tools?.listChanged !== true
  return () => {
    if (isSubscribed) return
    isSubscribed = true
    void client
      .listen({ toolsListChanged: true }, { timeout })
      .then(({ closed }) => closed)
      // When the subscription ends, assume a change: later changes are not reported.
      .then(changed, () => {})
      .finally(() => {
        isSubscribed = false
      })
  }
}

/** The error message, and what is known about the end of the server's process. */
function describeError(thrown: unknown, child: ChildTransport | undefined, timeout: number): string {
  const late = thrown instanceof SdkError && thrown.code === SdkErrorCode.RequestTimeout
  const message = late ? `it did not answer within ${timeout / 1000} s (start_timeout)` : messageChain(thrown)
  return [...new Set([message, ...(child?.problem ? [child.problem] : [])])].join('; ')
}

/** The error message with the messages of its causes, because "fetch failed" alone says nothing. */
function messageChain(thrown: unknown): string {
  const messages: string[] = []
  for (let error = thrown; error instanceof Error; error = error.cause)
    if (error.message !== '' && !messages.some((known) => known.includes(error.message))) messages.push(error.message)
  return (messages.join(': ') || asTirelessError(thrown).message).slice(0, LONGEST_MESSAGE)
}

function classifyFailure(thrown: unknown, child: ChildTransport | undefined, legacy: boolean): McpCallOutcome {
  const why = messageChain(thrown)
  if (thrown instanceof ProtocolError) return { kind: 'refused', why }
  if (thrown instanceof SdkHttpError && thrown.status >= 300 && thrown.status < 500)
    // An older server answers 404 after a restart, because it has lost the session.
    return { kind: legacy && thrown.status === 404 ? 'unheard' : 'refused', why }
  if (thrown instanceof TirelessError && thrown.code === 'egress_refused') return { kind: 'refused', why }
  if (thrown instanceof TirelessError && isNotConnected(thrown.cause)) return { kind: 'unheard', why }
  if (thrown instanceof SdkError && thrown.code === SdkErrorCode.InvalidResult)
    return {
      kind: 'refused',
      why: `the server's answer was not a valid result; the call may have taken effect: ${why}`,
    }
  return { kind: 'lost', why: child?.problem ?? why }
}

/** True if the error means that no connection was established. */
const isNotConnected = (cause: unknown): boolean =>
  cause instanceof Error &&
  'code' in cause &&
  ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'].includes(String(cause.code))
