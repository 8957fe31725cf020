/**
 * The long connection, held by the WSClient of the SDK. The SDK makes one attempt only: the kernel decides when to try
 * again and shows why. The client does not tell when a connection ends, so the socket is watched.
 */

import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Socket } from 'node:net'
import type { HttpInstance } from '@larksuiteoapi/node-sdk'
import { z } from 'zod'
import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type LarkApp, type LarkDeps, loadSdk, sdkLogger } from './lark-api.ts'
import { type HttpRequest, larkHttp } from './lark-http.ts'

const HANDSHAKE_MS = 15_000
/** An unanswered ping means that the connection is dead. Lark says how often pings are sent: every two minutes. */
const PONG_SECONDS = 10

export interface ConnectionHandlers {
  connected(): void
  /** By the type of the event. Contract: the event is acknowledged when its handler resolves, with what it returns. */
  readonly events: Readonly<Record<string, (data: unknown) => Promise<unknown>>>
}

export interface LarkConnectionDeps extends LarkDeps {
  /** For tests; default: 10 s. */
  readonly pongSeconds?: number | undefined
}

/** Contract: holds a connection until `signal` aborts, then resolves; rejects when it cannot be made or breaks. */
export async function holdConnection(
  app: LarkApp,
  handlers: ConnectionHandlers,
  deps: LarkConnectionDeps,
  signal: AbortSignal,
): Promise<void> {
  const sdk = await loadSdk()
  const ended = Promise.withResolvers<void>()
  const over = new AbortController()
  const logs = { logger: sdkLogger(deps.log), loggerLevel: sdk.LoggerLevel.error }
  const endpoint = endpointClient(larkHttp(deps.clock), app, signal)
  const watched = watchedAgent(app, () => ended.reject(lost()))
  const pongSeconds = deps.pongSeconds ?? PONG_SECONDS
  const client = new sdk.WSClient({
    ...{ ...app, ...logs, agent: watched.agent, httpInstance: endpoint.http, autoReconnect: false },
    ...{ handshakeTimeoutMs: HANDSHAKE_MS, wsConfig: { pingTimeout: pongSeconds } },
    onReady() {
      handlers.connected()
      const windowMs = (endpoint.pingSeconds() + pongSeconds) * 1000
      void endDeadSocket(deps.clock, watched.socket(), windowMs, over.signal)
    },
    onError: () => ended.reject(endpoint.failure() ?? lost()),
  })
  const stop = (): void => ended.resolve()
  signal.addEventListener('abort', stop, { once: true })
  try {
    if (signal.aborted) return
    const eventDispatcher = new sdk.EventDispatcher({ ...logs, cache: new sdk.DefaultCache() })
    await client.start({ eventDispatcher: eventDispatcher.register({ ...handlers.events }) })
    if (client.getConnectionStatus().state === 'idle') throw notStarted()
    await ended.promise
  } finally {
    over.abort()
    signal.removeEventListener('abort', stop)
    client.close({ force: true })
    watched.agent.destroy()
  }
}

/** The SDK says so in its log only. */
const notStarted = (): TirelessError =>
  new TirelessError('channel_refused', {
    what: 'the SDK refuses the App ID',
    expected: 'cli_ and 16 characters from 0 to 9 and a to f',
    fix: 'copy the App ID from the developer console, "Credentials & Basic Info", into channels.lark.app_id',
  })

const lost = (): TirelessError => new TirelessError('channel_unavailable', 'the connection to Lark was lost')

interface WatchedAgent {
  readonly agent: HttpAgent
  /** The socket of the connection, once there is one. */
  socket(): Socket | undefined
}

/** Calls `onClose` when a connection ends, however it ends. */
function watchedAgent({ domain }: LarkApp, onClose: () => void): WatchedAgent {
  const agent = domain.startsWith('https:') ? new HttpsAgent() : new HttpAgent()
  const connect = agent.createConnection.bind(agent)
  let socket: Socket | undefined
  agent.createConnection = (options, done) => {
    socket = connect(options, done) as Socket | undefined
    socket?.once('close', onClose)
    return socket
  }
  return { agent, socket: () => socket }
}

/**
 * Ends a connection over which something was sent, but nothing came back. The SDK has such a watch, too, but starts it
 * anew with each ping: it never ends if pings are more frequent than the limit.
 */
async function endDeadSocket(
  clock: Clock,
  socket: Socket | undefined,
  windowMs: number,
  signal: AbortSignal,
): Promise<void> {
  while (socket && !signal.aborted) {
    const { bytesRead, bytesWritten } = socket
    await clock.sleep(windowMs, signal)
    if (socket.bytesRead === bytesRead && socket.bytesWritten > bytesWritten) socket.destroy()
  }
}

const seconds = z.number().min(0.01).max(3600)
const endpointShape = z.looseObject({
  data: z.looseObject({
    URL: z.url({ protocol: /^wss?$/ }),
    ClientConfig: z.looseObject({
      PingInterval: seconds,
      ReconnectCount: z.number().catch(-1),
      ReconnectInterval: z.number().catch(120),
      ReconnectNonce: z.number().catch(30),
    }),
  }),
})

/** The SDK asks Lark for the address of the connection; it hides why that failed, and does not check the answer. */
function endpointClient(http: HttpInstance, { domain }: LarkApp, signal: AbortSignal) {
  let failure: TirelessError | undefined
  let pingSeconds = 0
  const request = async (options: HttpRequest): Promise<never> => {
    try {
      const answer: unknown = await http.request({ ...options, signal } as Parameters<HttpInstance['request']>[0])
      const { success, data } = endpointShape.safeParse(answer)
      const isSafe = success && data.data.URL.startsWith('wss:') === domain.startsWith('https:')
      if (!isSafe) throw new TirelessError('channel_unavailable', 'Lark named no usable address for the connection')
      pingSeconds = data.data.ClientConfig.PingInterval
      return data as never
    } catch (thrown) {
      failure = thrown instanceof TirelessError ? thrown : lost()
      throw failure
    }
  }
  return { http: { ...http, request } as HttpInstance, failure: () => failure, pingSeconds: () => pingSeconds }
}
