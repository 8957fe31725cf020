/**
 * The long connection of one channel: makes it, makes it again later each time it breaks, and passes its messages on.
 * Must not know: how the channel is reached, what a message does.
 * Invariants: never rejects, whatever the channel does; an attempt that ended can neither change the state nor pass
 * messages on; no error that is shown quotes a secret.
 */

import { hash } from 'node:crypto'
import { clipText } from '../../domain/clean-summary.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { ChatMessage } from '../../domain/message.ts'
import type { Channel, ChannelListener } from '../../ports/channel.ts'
import { checkChatMessage } from '../../ports/check-chat-message.ts'
import { type Clock, iso } from '../../ports/clock.ts'
import { untilAborted, withDeadline } from '../../ports/deadline.ts'
import { runAsOwner } from '../../ports/fault-owner.ts'
import type { Ids } from '../../ports/ids.ts'

/** The first new attempt comes after this time; then the wait doubles, up to the longest. Chance adds a quarter. */
const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 5 * 60_000
const MAX_JITTER = 0.25
/** A connection that held this long counts as healthy: its next failure is its first. */
const HEALTHY_MS = 60_000
/** How long a channel may take to connect, and to stop. */
const CONNECT_MS = 60_000
const STOP_MS = 5000
const MAX_ERROR = 300

export interface ConnectionDeps {
  readonly clock: Clock
  /** The source of chance: the delays of many programs must not be the same. */
  readonly ids: Ids
  /** Contract: the text without secrets. */
  redact(text: string): string
  log(level: 'info' | 'warn', event: string, details: Readonly<Record<string, string | number>>): void
  /** Called when the state of a connection has changed. */
  onState?(): void
}

export type ReceiveMessage = (message: ChatMessage) => Promise<{ readonly duplicate: boolean }>

export interface ConnectionState {
  /** `waiting`: the connection broke, and is made again at `next_at`. `stopped`: this process makes no connections. */
  readonly state: 'connecting' | 'connected' | 'waiting' | 'stopped'
  /** Since when it is in this state. */
  readonly since: string | null
  readonly next_at: string | null
  /** Why the last attempt failed; null while it is connected. */
  readonly error: string | null
}

export const STOPPED: ConnectionState = { state: 'stopped', since: null, next_at: null, error: null }

export class Connection {
  readonly #channel: Channel
  readonly #deps: ConnectionDeps
  readonly #receive: ReceiveMessage
  #state: ConnectionState
  /** Monotonic time; undefined while it is disconnected, or connected, respectively. */
  #connectedAt: number | undefined
  #downAt: number | undefined

  constructor(channel: Channel, deps: ConnectionDeps, receive: ReceiveMessage) {
    this.#channel = channel
    this.#deps = deps
    this.#receive = receive
    this.#downAt = deps.clock.monotonic()
    this.#state = { ...STOPPED, state: 'connecting', since: iso(deps.clock.now()) }
  }

  state(): ConnectionState {
    return this.#state
  }

  /** For how long the channel has been without a connection, in milliseconds. */
  downFor(): number {
    return this.#downAt === undefined ? 0 : this.#deps.clock.monotonic() - this.#downAt
  }

  /** Contract: keeps the connection until `signal` aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    let failures = 0
    while (!signal.aborted) {
      this.#setState({ state: 'connecting' })
      const thrown = await this.#attempt(signal).catch((error: unknown) => error ?? 'unknown error')
      if (signal.aborted) return
      const heldMs = this.#connectedAt === undefined ? 0 : clock.monotonic() - this.#connectedAt
      failures = heldMs >= HEALTHY_MS ? 1 : failures + 1
      const error = asTirelessError(thrown, 'channel_unavailable')
      const wait = this.#delay(failures, error)
      const message = clipText(this.#deps.redact(error.message), MAX_ERROR)
      this.#connectedAt = undefined
      this.#downAt ??= clock.monotonic()
      this.#setState({ state: 'waiting', next_at: iso(clock.now() + wait), error: message })
      log('warn', 'channel disconnected', { channel: this.#channel.name, message, retry_in_ms: wait })
      await clock.sleep(wait, signal)
    }
  }

  #delay(failures: number, { retryAfterMs = 0 }: TirelessError): number {
    const chance = Number.parseInt(hash('sha256', this.#deps.ids.next()).slice(0, 8), 16) / 2 ** 32
    const longest = LONGEST_WAIT_MS / (1 + MAX_JITTER)
    const wait = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), longest) * (1 + MAX_JITTER * chance)
    return Math.round(Math.max(wait, Math.min(retryAfterMs, LONGEST_WAIT_MS)))
  }

  /** Contract: rejects when the connection is lost; resolves when `signal` aborts and the channel has stopped. */
  async #attempt(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    const { name } = this.#channel
    const ended = new AbortController()
    const over = AbortSignal.any([signal, ended.signal])
    const fault = Promise.withResolvers<never>()
    const connected = Promise.withResolvers<void>()
    const fail = (thrown: unknown): boolean => {
      fault.reject(thrown)
      return !over.aborted
    }
    // In an async function, so that what `connect` throws becomes a rejection.
    const work = runAsOwner({ who: `channel ${name}`, fail }, async () => this.#connect(connected.resolve, over))
    work.catch(() => {})
    fault.promise.catch(() => {})
    try {
      await Promise.race([work, fault.promise, untilAborted(signal), this.#timeLimit(connected.promise, over)])
      if (!signal.aborted) throw new TirelessError('channel_unavailable', `the connection of ${name} ended`)
    } finally {
      ended.abort()
      await withDeadline({ clock, ms: STOP_MS }, () => work.catch(() => {}))
    }
  }

  async #connect(onConnected: () => void, over: AbortSignal): Promise<void> {
    const trouble = this.#channel.trouble()
    if (trouble !== null) throw new TirelessError('channel_refused', String(trouble))
    await this.#channel.connect?.(this.#listener(onConnected, over), over)
  }

  /** Contract: rejects if the channel is not connected in time; never resolves otherwise. */
  async #timeLimit(connected: Promise<void>, over: AbortSignal): Promise<never> {
    const { clock } = this.#deps
    await withDeadline(
      { clock, ms: CONNECT_MS, stop: over },
      () => connected,
      () => {
        if (over.aborted) return
        throw new TirelessError('channel_unavailable', `not connected within ${CONNECT_MS / 1000} s`)
      },
    )
    return new Promise<never>(() => {})
  }

  #listener(onConnected: () => void, over: AbortSignal): ChannelListener {
    const { name } = this.#channel
    const connected = (): void => {
      if (over.aborted || this.#connectedAt !== undefined) return
      this.#connectedAt = this.#deps.clock.monotonic()
      this.#downAt = undefined
      this.#setState({ state: 'connected' })
      this.#deps.log('info', 'channel connected', { channel: name })
      onConnected()
    }
    return {
      connected,
      receive: async (message) => {
        if (over.aborted) throw new TirelessError('channel_unavailable', 'the connection is closed')
        connected()
        return this.#receive(this.#check(message))
      },
    }
  }

  #check(message: unknown): ChatMessage {
    const { name } = this.#channel
    try {
      return checkChatMessage(name, message)
    } catch (thrown) {
      this.#deps.log('warn', 'message refused', { channel: name, message: asTirelessError(thrown).message })
      throw thrown
    }
  }

  #setState(state: Pick<ConnectionState, 'state'> & Partial<ConnectionState>): void {
    const { error } = this.#state
    const since = iso(this.#deps.clock.now())
    this.#state = { ...STOPPED, since, error: state.state === 'connected' ? null : error, ...state }
    this.#deps.onState?.()
  }
}
