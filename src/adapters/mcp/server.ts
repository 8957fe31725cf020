/**
 * One configured server: started on demand, and restarted with backoff after a failure. An error of the server affects
 * only its own calls.
 */

import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Egress } from '../../ports/egress.ts'
import type { McpState } from '../../ports/mcp.ts'
import type { ProcessGroup } from '../../ports/process-start.ts'
import type { ListedTool } from './approved-tools.ts'
import type { McpCallOutcome, McpConnection } from './connection.ts'
import type { PrepareStart } from './process-start.ts'
import type { ResourceAccess } from './resources.ts'
import type { ServerOptions } from './server-options.ts'

export interface ServerDeps {
  readonly clock: Clock
  readonly startFor: PrepareStart
  groupFor(server: string): ProcessGroup
  /** Sends requests to servers that are reached over HTTP. */
  readonly open: Egress['open']
  /** Contract: replaces `secret:NAME` by the secret; throws if there is no such secret. */
  insertSecrets(text: string): string
  log(level: 'info' | 'warn', event: string, details: Readonly<Record<string, Json>>): void
}

/** Number of stderr lines to keep. */
const KEPT_LINES = 20
/** Backoff: the first restart is immediate, the second after this time; then it doubles each time. */
const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 60_000
const LISTED_FOR_MS = 5 * 60_000

const fillAll = (texts: Readonly<Record<string, string>>, fill: (text: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text)]))

export class ConfiguredServer {
  readonly name: string
  readonly options: ServerOptions
  readonly #around: ServerDeps
  readonly #leash: ProcessGroup
  readonly #lines: string[] = []
  readonly #closing = new AbortController()
  #link: Promise<McpConnection> | undefined
  #up: McpConnection | undefined
  /** The shutdown of the previous process. It kills all processes of this server, so a start must wait for it. */
  #ending: Promise<void>
  /** Number of failures since the last success. */
  #failures = 0
  /** Monotonic time before which no attempt to connect is made. */
  #notBefore = 0
  #error: string | null = null
  #legacy = false
  /** Monotonic time of the last tool list; undefined if there is none yet, or the server has reported a change. */
  #listedAt: number | undefined
  /** Names of the tools in the last list; undefined before the first list. */
  #offered: ReadonlySet<string> | undefined

  /** `before`: the shutdown of an earlier server with the same name. */
  constructor(name: string, options: ServerOptions, around: ServerDeps, before: Promise<void> = Promise.resolve()) {
    this.name = name
    this.options = options
    this.#ending = before
    this.#around = around
    this.#leash = around.groupFor(name)
  }

  state(): Pick<McpState, 'state' | 'protocol' | 'error' | 'stderr'> {
    const down = this.#error === null ? 'idle' : 'down'
    return {
      state: this.#up ? 'up' : this.#link ? 'starting' : down,
      protocol: this.#up?.protocol ?? null,
      error: this.#error,
      stderr: [...this.#lines],
    }
  }

  /** True if the tool list may be outdated: a change was reported, or the list is old (not every server reports). */
  get isStale(): boolean {
    return this.#listedAt === undefined || this.#around.clock.monotonic() - this.#listedAt > LISTED_FOR_MS
  }

  /** Contract: false only if the server's tools were listed and `tool` was not among them. */
  mayHaveTool(tool: string): boolean {
    return this.#offered?.has(tool) ?? true
  }

  async tools(signal: AbortSignal): Promise<readonly ListedTool[]> {
    const link = await this.#connected(signal)
    try {
      this.#listedAt = this.#around.clock.monotonic()
      const tools = await link.tools(signal)
      this.#offered = new Set(tools.map(({ name }) => name))
      return tools
    } catch (thrown) {
      this.#listedAt = undefined
      if (!signal.aborted) await this.#drop(link, asTirelessError(thrown).message)
      throw this.#unusable(asTirelessError(thrown).message)
    }
  }

  /** Contract: throws `tool_failed` if the server cannot be reached; then the call was not sent. */
  async call(
    tool: string,
    args: Readonly<Record<string, Json>>,
    key: string,
    signal: AbortSignal,
  ): Promise<McpCallOutcome> {
    const link = await this.#connected(signal)
    const called = await link.call(tool, args, key, signal)
    if (called.kind === 'answered' || called.kind === 'refused') this.#failures = 0
    else await this.#drop(link, called.why)
    return called
  }

  /** Contract: throws `tool_failed` if the server cannot be reached or refuses. */
  async resource<T>(work: (resources: ResourceAccess) => Promise<T>, signal: AbortSignal): Promise<T> {
    const { resources } = await this.#connected(signal)
    try {
      return await work(resources)
    } catch (thrown) {
      throw this.#unusable(asTirelessError(thrown).message)
    }
  }

  /** The next attempt to connect is made at once. */
  resetBackoff(): void {
    this.#failures = 0
    this.#notBefore = 0
  }

  /** Contract: why a start of the server would fail; null if no problem is known. Starts no process. */
  async startProblem(): Promise<string | null> {
    if (this.#link) return null
    try {
      const options = this.#withSecrets()
      const start = options.command === undefined ? undefined : await this.#around.startFor(this.name, options)
      await start?.close?.()
      return null
    } catch (thrown) {
      return asTirelessError(thrown).message
    }
  }

  /** Contract: if the server is not connected, ends all its processes, also those of an earlier runtime process. */
  async end(): Promise<void> {
    if (this.#link) return
    await this.#leash.end(0)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    const link = await this.#link?.catch(() => undefined)
    this.#link = undefined
    this.#up = undefined
    await this.#ending
    await link?.close()
  }

  /** The connection; starts the server if needed. All callers share one start, which continues if a caller aborts. */
  async #connected(signal: AbortSignal): Promise<McpConnection> {
    // A process that is started after the end would never be ended.
    if (!this.#link && this.#closing.signal.aborted) throw this.#unusable('it was closed')
    if (!this.#link && signal.aborted) throw interrupted()
    const wait = Math.ceil((this.#notBefore - this.#around.clock.monotonic()) / 1000)
    if (!this.#link && wait > 0) throw this.#unusable(`${this.#error}; next attempt in ${wait} s`)
    this.#link ??= this.#connect()
    const over = new AbortController()
    const aborted = new Promise<never>((_, reject) => {
      const leave = (): void => reject(interrupted())
      if (signal.aborted) leave()
      else signal.addEventListener('abort', leave, { signal: over.signal })
    })
    try {
      return await Promise.race([this.#link, aborted])
    } finally {
      over.abort()
    }
  }

  async #connect(): Promise<McpConnection> {
    const { clock, startFor, log, open } = this.#around
    this.#listedAt = undefined
    const ended = { why: null as string | null }
    try {
      await this.#ending
      const { connect } = await import('./connection.ts')
      const server = this.#withSecrets()
      const link: McpConnection = await connect({
        start: () => startFor(this.name, server),
        ...{ server, group: this.#leash, clock, open, legacy: this.#legacy, signal: this.#closing.signal },
        onAttempt: () => {
          this.#lines.length = 0
        },
        onStderr: (line) => this.#keep(line),
        onLost: (why) => {
          ended.why = why
          if (this.#up) void this.#drop(this.#up, why)
        },
        onToolsChanged: () => {
          this.#listedAt = undefined
        },
      })
      if (ended.why !== null) throw new TirelessError('tool_failed', ended.why)
      this.#up = link
      this.#error = null
      this.#legacy = link.legacy
      log('info', 'mcp server up', { server: this.name, protocol: link.protocol })
      return link
    } catch (thrown) {
      const { message } = asTirelessError(thrown)
      this.#link = undefined
      this.#failed(message)
      throw this.#unusable(message)
    }
  }

  /** The options with secrets filled in, used only to start the server. `options` contains only names of secrets. */
  #withSecrets(): ServerOptions {
    const { insertSecrets: fill } = this.#around
    return { ...this.options, env: fillAll(this.options.env, fill), headers: fillAll(this.options.headers, fill) }
  }

  async #drop(link: McpConnection, why: string): Promise<void> {
    if (this.#up !== link) return
    this.#up = undefined
    this.#link = undefined
    this.#failed(why)
    this.#ending = link.close().catch(() => {})
    await this.#ending
  }

  #failed(why: string): void {
    const { clock, log } = this.#around
    this.#error = why
    const wait = this.#failures === 0 ? 0 : Math.min(FIRST_WAIT_MS * 2 ** (this.#failures - 1), LONGEST_WAIT_MS)
    this.#failures += 1
    this.#notBefore = clock.monotonic() + wait
    log('warn', 'mcp server down', { server: this.name, message: why })
  }

  #keep(line: string): void {
    this.#lines.push(line)
    if (this.#lines.length > KEPT_LINES) this.#lines.shift()
  }

  #unusable(why: string): TirelessError {
    return new TirelessError('tool_failed', {
      what: `the MCP server ${this.name} cannot be used`,
      got: why,
      fix: `run: tireless mcp test ${this.name}`,
    })
  }
}

const interrupted = (): TirelessError => new TirelessError('aborted', 'the call was interrupted before it started')
