/**
 * The long connections of all channels that have one. They are made only while the kernel runs.
 * Must not know: how a channel is reached, what a message does.
 * Invariants: a channel that breaks harms no other one and never ends the kernel; a changed configuration reconnects
 * only the channels that it concerns.
 */

import { asTirelessError } from '../../domain/error.ts'
import type { OwnerNote } from '../../domain/owner-note.ts'
import type { Channel } from '../../ports/channel.ts'
import { untilAborted } from '../../ports/deadline.ts'
import { Connection, type ConnectionDeps, type ConnectionState, type ReceiveMessage, STOPPED } from './connection.ts'
import type { NamedStates } from './shared-states.ts'

/** A channel without a connection for longer than this is a problem of the owner. */
const MAX_DOWN_MS = 5 * 60_000

interface ConnectionsDeps extends ConnectionDeps {
  readonly channels: ReadonlyMap<string, Channel>
  /** Contract: changes whenever the configuration of the channel does; null if the channel is not configured. */
  fingerprint(channel: string): string | null
}

interface Running {
  readonly fingerprint: string | null
  readonly connection: Connection
  readonly stop: AbortController
  readonly done: Promise<void>
}

export class ChannelConnections {
  readonly #deps: ConnectionsDeps
  readonly #running = new Map<string, Running>()
  /** Connections that end: their successor starts after them. */
  readonly #stopping = new Map<string, Promise<void>>()
  #until: { readonly signal: AbortSignal; readonly receive: ReceiveMessage } | undefined

  constructor(deps: ConnectionsDeps) {
    this.#deps = deps
  }

  /** Contract: the state of the channel's connection; null if the channel makes none. */
  stateOf(name: string): ConnectionState | null {
    const running = this.#running.get(name)
    if (running) return running.connection.state()
    return this.#isWanted(name) ? STOPPED : null
  }

  /** Contract: the states of all connections that this process keeps. */
  states(): NamedStates {
    return Object.fromEntries([...this.#running].map(([name, { connection }]) => [name, connection.state()]))
  }

  /** Contract: connects every channel until `signal` aborts; never rejects. `receive`: what a message does. */
  async run(receive: ReceiveMessage, signal: AbortSignal): Promise<void> {
    this.#until = { signal, receive }
    this.refresh()
    await untilAborted(signal)
    await Promise.all([...[...this.#running.values()].map(({ done }) => done), ...this.#stopping.values()])
    this.#running.clear()
    this.#until = undefined
  }

  /** Contract: applies a changed configuration. */
  refresh(): void {
    if (!this.#until || this.#until.signal.aborted) return
    const { signal, receive } = this.#until
    for (const [name, running] of this.#running)
      if (!this.#isWanted(name) || this.#deps.fingerprint(name) !== running.fingerprint) this.#stop(name, running)
    for (const [name, channel] of this.#deps.channels)
      if (!this.#running.has(name) && this.#isWanted(name)) this.#start(channel, receive, signal)
  }

  /** Contract: a note for each channel that should be connected and has not been for minutes. */
  problems(): readonly OwnerNote[] {
    return [...this.#running]
      .filter(([, { connection }]) => connection.downFor() > MAX_DOWN_MS)
      .map(([name, { connection }]) => {
        const error = connection.state().error ?? '-'
        const minutes = Math.floor(connection.downFor() / 60_000)
        return {
          about: `channel ${name}`,
          text: `the channel ${name} has been disconnected for ${minutes} min: ${error}`,
          zh: `通道 ${name} 已断开 ${minutes} 分钟：${error}`,
        }
      })
  }

  /** A configured channel that has a problem is tried, too: the problem may end without a new configuration. */
  #isWanted(name: string): boolean {
    const channel = this.#deps.channels.get(name)
    try {
      if (typeof channel?.connect !== 'function') return false
      return this.#deps.fingerprint(name) !== null || channel.trouble() === null
    } catch (thrown) {
      this.#deps.log('warn', 'channel broken', { channel: name, message: asTirelessError(thrown).message })
      return false
    }
  }

  #start(channel: Channel, receive: ReceiveMessage, until: AbortSignal): void {
    const { name } = channel
    const stop = new AbortController()
    const connection = new Connection(channel, this.#deps, receive)
    const before = this.#stopping.get(name) ?? Promise.resolve()
    const done = before.then(() => connection.run(AbortSignal.any([until, stop.signal])))
    this.#running.set(name, { fingerprint: this.#deps.fingerprint(name), connection, stop, done })
  }

  #stop(name: string, { stop, done }: Running): void {
    this.#running.delete(name)
    stop.abort()
    const stopped = done.finally(() => {
      if (this.#stopping.get(name) === stopped) this.#stopping.delete(name)
    })
    this.#stopping.set(name, stopped)
  }
}
