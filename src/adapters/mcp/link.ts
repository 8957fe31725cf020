/**
 * A connection to one server, of either generation of the protocol: the stateless one is tried first, the handshake where that leads nowhere.
 * The only file that knows the SDK's client; loaded with the first server that is needed.
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
import { addressOf } from '../../domain/address.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Egress } from '../../ports/egress.ts'
import { ChildTransport } from './child.ts'
import type { Answered } from './content.ts'
import { guardedFetch } from './guarded-fetch.ts'
import type { Leash } from './leash.ts'
import type { ServerOptions } from './options.ts'
import type { ListedTool } from './pins.ts'
import type { ProcessStart } from './start.ts'

/** What became of a call: `refused` is an answer, too; `lost`: nobody knows whether it took effect; `unheard`: it did not. */
export type Called =
  | { readonly kind: 'answered'; readonly answer: Answered }
  | { readonly kind: 'refused' | 'lost' | 'unheard'; readonly why: string }

export interface Link {
  /** The protocol's version, and whether it is the generation before. */
  readonly protocol: string
  readonly legacy: boolean
  tools(signal: AbortSignal): Promise<readonly ListedTool[]>
  /** Contract: throws only where `signal` aborts; the server is told. */
  call(tool: string, args: Readonly<Record<string, Json>>, key: string, signal: AbortSignal): Promise<Called>
  /** Contract: nothing of it runs afterwards. */
  close(): Promise<void>
}

export interface LinkOptions {
  readonly server: ServerOptions
  /** How a child process is started. */
  start(): Promise<ProcessStart>
  readonly leash: Leash
  readonly clock: Clock
  readonly open: Egress['open']
  /** It is known to speak the handshake only. */
  readonly legacy: boolean
  readonly signal: AbortSignal
  /** It is tried: what it said before is of another try. */
  begun(): void
  said(line: string): void
  /** It went away by itself. */
  lost(why: string): void
  /** It says that its tools are others now. */
  changed(): void
}

const CLIENT = { name: 'tireless', version: '1' }
/** One that says nothing to the first question for so long speaks the handshake only. */
const LONGEST_PROBE_MS = 10_000
const PROBE_SHARE = 4
/** A call's own limit is kept by whoever calls. */
const FOR_EVER = 2 ** 31 - 1
const MOST_BYTES = 10 * 1024 * 1024
const MOST_TOOLS = 1000
const LONGEST_DESCRIPTION = 8000
const LONGEST_WORDS = 1000

/** Contract: throws `tool_failed` in words that its owner can act on. */
export async function connect(options: LinkOptions): Promise<Link> {
  const { legacy, signal } = options
  const first = await attempt(options, legacy ? 'legacy' : 'auto')
  if (first.link) return first.link
  // One that ends when it is asked something before the handshake is of the generation before.
  const again = !legacy && first.died && !signal.aborted
  const { link, why } = again ? await attempt(options, 'legacy') : first
  if (link) return link
  throw new TirelessError('tool_failed', why)
}

interface Attempt {
  readonly link?: Link
  readonly why: string
  readonly died: boolean
}

/** The SDK's timers are the machine's own, and a longer one would be over at once. */
const startTimeout = ({ server }: LinkOptions): number => Math.min(server.start_timeout, FOR_EVER)

async function attempt(options: LinkOptions, mode: 'auto' | 'legacy'): Promise<Attempt> {
  options.begun()
  const { transport, child } = transportFor(options)
  const timeout = startTimeout(options)
  const client = new Client(CLIENT, {
    capabilities: {},
    versionNegotiation: { mode, probe: { timeoutMs: Math.min(LONGEST_PROBE_MS, timeout / PROBE_SHARE) } },
    inputRequired: { autoFulfill: false },
  })
  client.onerror = () => {}
  // The SDK asks its first question to the end, whoever has gone away.
  const leave = (): void => void transport.close().catch(() => {})
  options.signal.addEventListener('abort', leave, { once: true })
  try {
    await client.connect(transport, { timeout, signal: options.signal })
  } catch (thrown) {
    // Before it is ended by us: how it ends then is no trouble of its own.
    const [died, why] = [child?.isOver ?? false, troubleOf(thrown, child, timeout)]
    await transport.close().catch(() => {})
    return { why, died }
  } finally {
    options.signal.removeEventListener('abort', leave)
  }
  return { link: linkOf(client, child, options), why: '', died: false }
}

function transportFor({ server, start, leash, clock, open, said }: LinkOptions): {
  readonly transport: Transport
  readonly child?: ChildTransport
} {
  if (server.command) {
    const child = new ChildTransport({ start, leash, clock, said, mostBytes: MOST_BYTES })
    return { transport: child, child }
  }
  const own = addressOf(server.url ?? '')
  if (own.kind === 'refused')
    throw new TirelessError('tool_failed', {
      ...{ what: 'its address cannot be used', where: server.url, got: own.why, expected: 'http(s)://host/path' },
      fix: 'write it otherwise in mcp_servers',
    })
  const transport = new StreamableHTTPClientTransport(new URL(own.value.url), {
    requestInit: { headers: { ...server.headers } },
    fetch: guardedFetch(open, own.value, MOST_BYTES),
  })
  return { transport }
}

function linkOf(client: Client, child: ChildTransport | undefined, options: LinkOptions): Link {
  const { lost, changed } = options
  const timeout = startTimeout(options)
  let closing = false
  const listen = listening(client, timeout, changed)
  client.onclose = () => closing || lost(child?.trouble ?? 'the connection was closed')
  client.setNotificationHandler('notifications/tools/list_changed', () => changed())
  return {
    protocol: client.getNegotiatedProtocolVersion() ?? 'unknown',
    legacy: client.getProtocolEra() !== 'modern',
    async tools(signal) {
      listen()
      const { tools } = await client.listTools(undefined, { timeout, signal, cacheMode: 'refresh' }).catch((thrown) => {
        throw new TirelessError('tool_failed', troubleOf(thrown, child, timeout), { cause: thrown })
      })
      return tools.slice(0, MOST_TOOLS).map(({ name, description = '', inputSchema, annotations }) => ({
        ...{ name, description: description.slice(0, LONGEST_DESCRIPTION), schema: inputSchema as Json },
        readOnly: annotations?.readOnlyHint === true,
      }))
    },
    async call(tool, args, key, signal) {
      const params = { name: tool, arguments: { ...args }, _meta: { 'tireless/idempotency-key': key } }
      try {
        const answer = await client.callTool(params, { signal, timeout: FOR_EVER })
        return { kind: 'answered', answer: answer as Answered }
      } catch (thrown) {
        if (signal.aborted) throw thrown
        return whatBecame(thrown, child, client.getProtocolEra() !== 'modern')
      }
    },
    async close() {
      closing = true
      await client.close()
      await child?.close()
    },
  }
}

/** Of the stateless generation, who wants to hear of changes has to ask for it. Contract: asks where nobody listens yet; never throws. */
function listening(client: Client, timeout: number, changed: () => void): () => void {
  let listens = client.getProtocolEra() !== 'modern' || client.getServerCapabilities()?.tools?.listChanged !== true
  return () => {
    if (listens) return
    listens = true
    void client
      .listen({ toolsListChanged: true }, { timeout })
      .then(({ closed }) => closed)
      // What was said since nobody has heard.
      .then(changed, () => {})
      .finally(() => {
        listens = false
      })
  }
}

/** In words that its owner can act on, with what is known of the process. */
function troubleOf(thrown: unknown, child: ChildTransport | undefined, timeout: number): string {
  const late = thrown instanceof SdkError && thrown.code === SdkErrorCode.RequestTimeout
  const said = late ? `it did not answer within ${timeout / 1000} s (start_timeout)` : wordsOf(thrown)
  return [...new Set([said, ...(child?.trouble ? [child.trouble] : [])])].join('; ')
}

/** With what is behind it: that a fetch failed says nothing by itself. */
function wordsOf(thrown: unknown): string {
  const words: string[] = []
  for (let error = thrown; error instanceof Error; error = error.cause)
    if (error.message !== '' && !words.some((known) => known.includes(error.message))) words.push(error.message)
  return (words.join(': ') || asTirelessError(thrown).message).slice(0, LONGEST_WORDS)
}

function whatBecame(thrown: unknown, child: ChildTransport | undefined, legacy: boolean): Called {
  const why = wordsOf(thrown)
  if (thrown instanceof ProtocolError) return { kind: 'refused', why }
  if (thrown instanceof SdkHttpError && thrown.status >= 300 && thrown.status < 500)
    // Of the generation before: whoever was started anew knows nothing of what was agreed upon.
    return { kind: legacy && thrown.status === 404 ? 'unheard' : 'refused', why }
  if (thrown instanceof TirelessError && thrown.code === 'egress_refused') return { kind: 'refused', why }
  if (thrown instanceof TirelessError && isDeaf(thrown.cause)) return { kind: 'unheard', why }
  if (thrown instanceof SdkError && thrown.code === SdkErrorCode.InvalidResult)
    return { kind: 'refused', why: `it answered, but not with a result, and may have done its work: ${why}` }
  return { kind: 'lost', why: child?.trouble ?? why }
}

/** Nobody took the connection. */
const isDeaf = (cause: unknown): boolean =>
  cause instanceof Error &&
  'code' in cause &&
  ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'].includes(String(cause.code))
