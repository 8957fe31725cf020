/**
 * Calls a sandboxed plugin. Its process is started by the first call, ended when it breaks the protocol, hangs or
 * floods, and started again by a later call, after a pause that grows with each failure.
 */

import { canonicalJson } from '../../../domain/approval.ts'
import { asTirelessError, TirelessError } from '../../../domain/error.ts'
import type { Json } from '../../../domain/json.ts'
import { pluginLabel } from '../../../domain/plugin-manifest.ts'
import type { Clock } from '../../../ports/clock.ts'
import { startTimer, withDeadline } from '../../../ports/deadline.ts'
import type { ProcessGroup, ProcessStart } from '../../../ports/process-start.ts'
import { PendingCalls, type PluginCall } from './pending-calls.ts'
import { PluginProcess } from './plugin-process.ts'
import { type FromPlugin, fromPlugin, type Offers, type ToPlugin } from './protocol.ts'

interface ClientOptions {
  readonly name: string
  readonly clock: Clock
  readonly group: ProcessGroup
  /** Contract: prepares one start in the sandbox; throws if there is none. */
  start(): Promise<ProcessStart>
  /** Contract: the first message; throws if a secret is missing. */
  load(): Extract<ToPlugin, { type: 'load' }>
  /** What the owner approved; undefined while the plugin is being approved. */
  readonly approved: Json | undefined
  log(event: string, details: Readonly<Record<string, Json>>): void
}

const READY_WITHIN_MS = 30_000
/** A process that sends nothing for so long, although it is asked to, hangs. */
const SILENT_MS = 10_000
/** Time to answer after a call is cancelled. */
const CANCEL_GRACE_MS = 1000
const MOST_MESSAGES_PER_SECOND = 2000
const FLOOD = `it sent more than ${MOST_MESSAGES_PER_SECOND} messages in a second`
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000

export class PluginClient {
  readonly #options: ClientOptions
  readonly #pending = new PendingCalls()
  #process: Promise<PluginProcess> | undefined
  #ready = Promise.withResolvers<Offers>()
  #failures = 0
  #pausedUntil = 0
  #lastReason: string | undefined
  #received = 0
  #window = { from: 0, messages: 0 }
  #isClosed = false

  constructor(options: ClientOptions) {
    this.#options = options
  }

  /** Why the plugin cannot be called now; null if it can. */
  trouble(): string | null {
    const left = this.#pausedUntil - this.#options.clock.monotonic()
    if (this.#isClosed) return 'it was stopped'
    return left > 0 ? `${this.#lastReason}; it is started again in ${Math.ceil(left / 1000)} seconds` : null
  }

  /** Contract: starts the plugin and returns what it offers. */
  async offers(): Promise<Offers> {
    await this.#connect()
    return this.#ready.promise
  }

  /** Contract: the value that the plugin returned, unchecked; rejects with an error that names the plugin. */
  async call(call: PluginCall): Promise<Json | undefined> {
    const { clock } = this.#options
    const process = await this.#connect()
    if (call.signal?.aborted) throw this.#named(new TirelessError('aborted', 'the call was cancelled'))
    const { id, result } = this.#pending.add(call, (message) => this.#send(process, message))
    const giveUp = (why: string): void => {
      if (!this.#pending.has(id)) return
      this.#send(process, { type: 'cancel', id })
      startTimer(clock, CANCEL_GRACE_MS, () => this.#pending.has(id) && process.kill(why))
    }
    const stopTimer = startTimer(clock, call.withinMs, () =>
      giveUp(`it did not answer within ${call.withinMs / 1000} seconds`),
    )
    const onAbort = (): void => giveUp('it did not stop when its call was cancelled')
    call.signal?.addEventListener('abort', onAbort, { once: true })
    this.#send(process, { type: 'call', id, kind: call.kind, name: call.name, method: call.method, args: call.args })
    if (this.#pending.size === 1) void this.#watch(process)
    try {
      const value = await result
      this.#failures = 0
      return value
    } catch (thrown) {
      throw this.#named(thrown)
    } finally {
      stopTimer()
      call.signal?.removeEventListener('abort', onAbort)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await (await this.#process?.catch(() => undefined))?.close()
  }

  async #connect(): Promise<PluginProcess> {
    const trouble = this.trouble()
    if (trouble !== null) throw this.#named(new TirelessError('tool_failed', trouble))
    try {
      this.#process ??= this.#start()
      const process = await this.#process
      await this.#ready.promise
      return process
    } catch (thrown) {
      throw this.#named(thrown)
    }
  }

  async #start(): Promise<PluginProcess> {
    const { clock, group, name, log, start, load } = this.#options
    const ready = Promise.withResolvers<Offers>()
    ready.promise.catch(() => {})
    this.#ready = ready
    this.#received = 0
    let process: PluginProcess
    try {
      // Before the process is started: a secret may be missing.
      const message = load()
      process = await PluginProcess.start({
        ...{ clock, group, start },
        onLine: (line) => this.#receive(process, line),
        onStderr: (line) => log('plugin wrote to stderr', { plugin: name, line }),
      })
      this.#send(process, message)
    } catch (thrown) {
      this.#noteEnd(asTirelessError(thrown).message)
      throw thrown
    }
    void process.ended.then((reason) => this.#noteEnd(reason))
    const isReady = await withDeadline(
      { clock, ms: READY_WITHIN_MS },
      () => ready.promise.then(() => true),
      () => false,
    )
    if (!isReady) process.kill(`it was not ready within ${READY_WITHIN_MS / 1000} seconds`)
    await ready.promise
    return process
  }

  /** Called once per process: every open call fails, and the next start comes later. */
  #noteEnd(reason: string): void {
    const { clock, name, log } = this.#options
    this.#process = undefined
    this.#lastReason = reason
    this.#failures += 1
    const pause = this.#failures <= 1 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (this.#failures - 2), LONGEST_PAUSE_MS)
    this.#pausedUntil = clock.monotonic() + pause
    const error = new TirelessError('tool_failed', reason)
    this.#ready.reject(error)
    this.#pending.failAll(error)
    if (!this.#isClosed) log('plugin process ended', { plugin: name, reason })
  }

  #send(process: PluginProcess, message: ToPlugin): void {
    try {
      process.send(message)
    } catch {
      // The process has ended; its open calls are failed by `#noteEnd`.
    }
  }

  #receive(process: PluginProcess, line: string): void {
    this.#received += 1
    const message = this.#isFlooding() ? FLOOD : (parse(line) ?? `it sent an invalid message: ${line.slice(0, 200)}`)
    const problem = typeof message === 'string' ? message : this.#handle(message)
    if (problem !== undefined) process.kill(problem)
  }

  /** Contract: returns why the message breaks the protocol; undefined if it does not. */
  #handle(message: FromPlugin): string | undefined {
    const { name, approved, log } = this.#options
    switch (message.type) {
      case 'ready':
        if (approved !== undefined && canonicalJson(approved) !== canonicalJson(message.offers as Json))
          return `it offers something else than you approved; do this: run \`tireless plugins approve ${name}\``
        this.#ready.resolve(message.offers)
        return undefined
      case 'failed':
        return message.message
      case 'log':
        log('plugin', { plugin: name, text: message.text })
        return undefined
      case 'pong':
        return undefined
      default:
        return this.#pending.handle(message)
    }
  }

  #isFlooding(): boolean {
    const now = this.#options.clock.monotonic()
    if (now - this.#window.from >= 1000) this.#window = { from: now, messages: 0 }
    this.#window.messages += 1
    return this.#window.messages > MOST_MESSAGES_PER_SECOND
  }

  /** While calls are open: ends a process whose event loop does not answer. */
  async #watch(process: PluginProcess): Promise<void> {
    const { clock } = this.#options
    const over = new AbortController()
    void process.ended.then(() => over.abort())
    while (this.#pending.size > 0 && !over.signal.aborted) {
      const before = this.#received
      this.#send(process, { type: 'ping' })
      await Promise.race([clock.sleep(SILENT_MS, over.signal), this.#pending.idle()])
      if (this.#pending.size > 0 && this.#received === before)
        process.kill(`it did not respond for ${SILENT_MS / 1000} seconds`)
    }
    over.abort()
  }

  #named(thrown: unknown): TirelessError {
    const { code, parts, retryAfterMs } = asTirelessError(thrown, 'tool_failed')
    const label = pluginLabel(this.#options.name)
    if (parts.where?.startsWith(label)) return asTirelessError(thrown)
    return new TirelessError(code, { ...parts, where: label }, { cause: thrown, retryAfterMs })
  }
}

function parse(line: string): FromPlugin | undefined {
  try {
    return fromPlugin.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}
