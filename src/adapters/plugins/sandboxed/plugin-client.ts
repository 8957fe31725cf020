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
import { MessageLimits } from './message-limits.ts'
import { PendingCalls, type PluginCall } from './pending-calls.ts'
import { PluginLog } from './plugin-log.ts'
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
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000
/** Length limit of the reason that a plugin gives for its failure, in characters. */
const LONGEST_REASON = 2000

export class PluginClient {
  readonly #options: ClientOptions
  readonly #pending = new PendingCalls()
  readonly #log: PluginLog
  /** The process when it is ready. */
  #process: Promise<PluginProcess> | undefined
  /** The process as soon as it is started. */
  #started: PluginProcess | undefined
  #ready = Promise.withResolvers<Offers>()
  #failures = 0
  #pausedUntil = 0
  #lastReason: string | undefined
  #received = 0
  #isClosed = false

  constructor(options: ClientOptions) {
    this.#options = options
    const { name: plugin, clock, log } = options
    this.#log = new PluginLog({ plugin, clock, log })
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
    const process = await this.#connectFor(call)
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
    const { kind, name, method, args } = call
    if (this.#send(process, { type: 'call', id, kind, name, method, args })) call.onSent?.()
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
    await this.#started?.close()
    await this.#process?.catch(() => {})
  }

  /** Contract: throws the first code of the call, or `aborted`; the call was not sent then. */
  async #connectFor({ signal, codes: [code] }: PluginCall): Promise<PluginProcess> {
    const limit = { clock: this.#options.clock, ms: Number.POSITIVE_INFINITY, stop: signal }
    try {
      const process = signal?.aborted ? undefined : await withDeadline(limit, () => this.#connect())
      if (process && !signal?.aborted) return process
    } catch (thrown) {
      const { parts, retryAfterMs } = asTirelessError(thrown)
      throw new TirelessError(code, parts, { cause: thrown, retryAfterMs })
    }
    throw this.#named(new TirelessError('aborted', 'the call was cancelled before it was sent'))
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
    const { clock, group, start, load } = this.#options
    const ready = Promise.withResolvers<Offers>()
    ready.promise.catch(() => {})
    this.#ready = ready
    this.#received = 0
    const limits = new MessageLimits(clock)
    let process: PluginProcess
    try {
      // Before the process is started: a secret may be missing.
      const message = load()
      process = await PluginProcess.start({
        ...{ clock, group, start },
        onLine: (line) => this.#receive(process, limits.check(line) ?? parse(line.toString('utf8'))),
        onStderr: (line) => this.#log.write('plugin wrote to stderr', line),
      })
      this.#started = process
      this.#send(process, message)
      if (this.#isClosed) process.kill('it was stopped')
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
    this.#started = undefined
    this.#lastReason = reason
    this.#failures += 1
    const pause = this.#failures <= 1 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (this.#failures - 2), LONGEST_PAUSE_MS)
    this.#pausedUntil = clock.monotonic() + pause
    this.#ready.reject(new TirelessError('tool_failed', reason))
    this.#pending.failAll(reason)
    if (!this.#isClosed) log('plugin process ended', { plugin: name, reason })
  }

  /** Contract: returns whether the message was written. If the process has ended, `#noteEnd` fails its open calls. */
  #send(process: PluginProcess, message: ToPlugin): boolean {
    try {
      process.send(message)
      return true
    } catch {
      return false
    }
  }

  /** `message`: a text says why it is none. */
  #receive(process: PluginProcess, message: FromPlugin | string): void {
    this.#received += 1
    const problem = typeof message === 'string' ? message : this.#handle(message)
    if (problem !== undefined) process.kill(problem)
  }

  /** Contract: returns why the message breaks the protocol; undefined if it does not. */
  #handle(message: FromPlugin): string | undefined {
    const { name, approved } = this.#options
    switch (message.type) {
      case 'ready':
        if (approved !== undefined && canonicalJson(approved) !== canonicalJson(message.offers as Json))
          return `it offers something else than you approved; do this: run \`tireless plugins approve ${name}\``
        this.#ready.resolve(message.offers)
        return undefined
      case 'failed':
        return message.message.slice(0, LONGEST_REASON)
      case 'log':
        this.#log.write('plugin', message.text)
        return undefined
      case 'pong':
        return undefined
      default:
        return this.#pending.handle(message)
    }
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

/** Contract: the message, or why it is none. */
function parse(line: string): FromPlugin | string {
  const invalid = `it sent an invalid message: ${line.slice(0, 200)}`
  try {
    return fromPlugin.safeParse(JSON.parse(line)).data ?? invalid
  } catch {
    return invalid
  }
}
