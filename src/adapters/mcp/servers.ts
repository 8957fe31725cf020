/** All configured servers, the records of their approved tools (pins), and the tools that the engine gets. */

import { TirelessError } from '../../domain/error.ts'
import type { OwnerNote } from '../../domain/owner-note.ts'
import { iso } from '../../ports/clock.ts'
import { withDeadline } from '../../ports/deadline.ts'
import type { McpServers, McpState } from '../../ports/mcp.ts'
import { commitOne, fallbackIfUnreadable, type Store } from '../../ports/store.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { approvedTool, approvePins, diffPin, mergePins, type Pins, toolsAwaitingApproval } from './approved-tools.ts'
import type { ToolArguments } from './check-arguments.ts'
import type { McpCallOutcome } from './connection.ts'
import { mcpTool } from './mcp-tool.ts'
import { ConfiguredServer, type ServerDeps } from './server.ts'
import type { ServerOptions } from './server-options.ts'
import { toolCall } from './tool-call.ts'
import { qualifiedToolName } from './tool-names.ts'
import { type FoundTool, toolSearch } from './tool-search.ts'
import { describeDisabled, toolState } from './tool-state.ts'

type CallRequest = [server: string, tool: string, args: ToolArguments, key: string, signal: AbortSignal]
type SubscribeRequest = Parameters<McpServers['subscribeResource']>
type Configured = Readonly<Record<string, ServerOptions>>

interface ServersOptions extends ServerDeps {
  readonly store: Store
  /** The current configuration; returns the same object as long as the configuration is unchanged. */
  configured(): Configured
  /** Registers a tool with the engine; a tool with the same name is replaced. */
  registerTool(tool: AnyTool): void
  redact(text: string): string
}

/** A tool search waits this long for the first start of a server; the start continues afterwards. */
const PATIENCE_MS = 20_000

export class McpServerPool implements McpServers {
  readonly #options: ServersOptions
  readonly #servers = new Map<string, ConfiguredServer>()
  /** Shutdowns of removed or changed servers, by name. */
  readonly #endings = new Map<string, Promise<void>>()
  readonly #pins = new Map<string, Pins>()
  readonly #closing = new AbortController()
  #current: Configured = {}
  #refreshed: Promise<void> = Promise.resolve()

  constructor(options: ServersOptions) {
    this.#options = options
  }

  /**
   * Contract: when it resolves, the current configuration is in use; starts no server. Concurrent callers wait for the
   * same result: a server whose pins are not read yet would count as new, and all its tools would be approved.
   */
  refresh(): Promise<void> {
    const configured = this.#options.configured()
    if (configured === this.#current) return this.#refreshed
    this.#current = configured
    this.#refreshed = this.#refreshed.catch(() => {}).then(() => this.#adopt(configured))
    return this.#refreshed
  }

  async #adopt(configured: Configured): Promise<void> {
    for (const [name, server] of this.#servers)
      if (JSON.stringify(server.options) !== JSON.stringify(configured[name])) {
        this.#servers.delete(name)
        this.#endings.set(
          name,
          server.close().catch(() => {}),
        )
      }
    for (const [name, options] of Object.entries(configured)) {
      if (!this.#servers.has(name))
        this.#servers.set(name, new ConfiguredServer(name, options, this.#options, this.#endings.get(name)))
      const kept = this.#pins.get(name) ?? (await readPins(this.#options.store, name))
      if (kept) this.#pins.set(name, kept)
      this.#registerTools(name)
    }
    if (this.#servers.size === 0) return
    this.#options.registerTool(
      toolSearch({
        servers: Object.keys(configured),
        trusted: Object.values(configured).every(({ trust }) => trust === 'trusted'),
        findTools: (signal) => this.#findTools(signal),
      }),
    )
    this.#options.registerTool(toolCall)
  }

  async list(): Promise<readonly McpState[]> {
    await this.refresh()
    return [...this.#servers.values()].map((server) => this.#stateOf(server))
  }

  async startProblem(name: string): Promise<string | null> {
    await this.refresh()
    const problem = await this.#named(name).startProblem()
    return problem === null ? null : this.#redacted(problem)
  }

  async test(name: string): Promise<McpState> {
    await this.refresh()
    const server = this.#named(name)
    server.resetBackoff()
    await this.#updatePins(server, this.#closing.signal).catch(() => {})
    return this.#stateOf(server)
  }

  async approve(name: string, tool?: string): Promise<readonly string[]> {
    await this.refresh()
    this.#named(name)
    const { pins, tools } = approvePins(this.#pins.get(name) ?? {}, tool)
    if (tool !== undefined && tools.length === 0)
      throw new TirelessError('not_found', {
        ...{ what: 'this server has no tool of that name waiting for approval', where: name, got: tool },
        fix: `see: tireless mcp list`,
      })
    if (tools.length > 0) await this.#keep(name, pins)
    return tools
  }

  async forget(name: string): Promise<void> {
    await this.refresh()
    this.#pins.delete(name)
    await commitOne(this.#options.store, [{ op: 'set', name: settingOf(name), value: null }])
  }

  async readResource(name: string, uri: string, signal: AbortSignal): Promise<string> {
    await this.refresh()
    return this.#named(name).resource((resources) => resources.read(uri, signal), signal)
  }

  async subscribeResource(...[name, uri, onChange, signal]: SubscribeRequest): Promise<boolean> {
    await this.refresh()
    return this.#named(name).resource((resources) => resources.subscribe(uri, onChange, signal), signal)
  }

  notes(): readonly OwnerNote[] {
    return [...this.#servers].flatMap(([name, server]) => {
      const { state, error } = server.state()
      const waiting = toolsAwaitingApproval(this.#pins.get(name) ?? {})
      return [
        ...(state === 'down'
          ? [{ about: `mcp ${name}`, text: this.#redacted(`the MCP server ${name} is down: ${error}`) }]
          : []),
        ...waiting.map((tool) => ({ about: `mcp ${name} ${tool}`, text: this.#describeWaiting(name, tool) })),
      ]
    })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([...this.#endings.values(), ...[...this.#servers.values()].map((server) => server.close())])
  }

  /** Lists the server's tools and updates the stored record of approved tools (pins). */
  async #updatePins(server: ConfiguredServer, signal: AbortSignal): Promise<void> {
    const { name } = server
    const listed = await server.tools(signal)
    const before = this.#pins.get(name)
    const pins = mergePins(before, listed, iso(this.#options.clock.now()))
    if (JSON.stringify(pins) === JSON.stringify(before)) return
    await this.#keep(name, pins)
    for (const tool of toolsAwaitingApproval(pins))
      if (before?.[tool]?.offered?.digest !== pins[tool]?.offered?.digest)
        this.#options.log('warn', 'mcp tool changed', {
          server: name,
          tool,
          message: this.#describeWaiting(name, tool),
        })
  }

  /** Stores the pins of a server: first in memory, then on disk, so that concurrent calls use the new pins. */
  async #keep(name: string, pins: Pins): Promise<void> {
    this.#pins.set(name, pins)
    this.#registerTools(name)
    await commitOne(this.#options.store, [{ op: 'set', name: settingOf(name), value: pins }])
  }

  /** Registers the approved tools. A changed tool stays registered as it was approved, but its calls are refused. */
  #registerTools(name: string): void {
    const options = this.#current[name]
    if (!options) return
    for (const [tool, { approved }] of Object.entries(this.#pins.get(name) ?? {}))
      if (approved)
        this.#options.registerTool(
          mcpTool(qualifiedToolName(name, tool), tool, approved, options, {
            call: (args, key, signal) => this.#call(name, tool, args, key, signal),
            end: async () => this.#servers.get(name)?.end(),
          }),
        )
  }

  async #call(...request: CallRequest): Promise<McpCallOutcome> {
    const called = await this.#ask(...request)
    // If the call did not reach the server, it is tried once more; that restarts the server and checks its tools again.
    return called.kind === 'unheard' ? this.#ask(...request) : called
  }

  async #ask(...[name, tool, args, key, signal]: CallRequest): Promise<McpCallOutcome> {
    await this.refresh()
    const server = this.#servers.get(name)
    if (!server) return refused(`the MCP server ${name} is no longer configured`)
    // After a restart or a reported change, the server's tools are compared with the approved tools before the call.
    if (server.isStale) await this.#updatePins(server, signal)
    const pin = this.#pins.get(name)?.[tool]
    // The message does not quote the server's new description, because that is not approved.
    if (!pin || !approvedTool(pin) || !server.mayHaveTool(tool)) return refused(describeDisabled(name, tool, pin))
    return server.call(tool, args, key, signal)
  }

  async #findTools(signal: AbortSignal): Promise<{ tools: readonly FoundTool[]; silent: readonly string[] }> {
    await this.refresh()
    const silent: string[] = []
    await Promise.all(
      [...this.#servers.values()].map(async (server) => {
        if (this.#pins.has(server.name)) return
        // A server that answers later is still remembered, so its start is not aborted.
        const update = (): Promise<void> => this.#updatePins(server, this.#closing.signal).catch(() => {})
        await withDeadline({ clock: this.#options.clock, ms: PATIENCE_MS, stop: signal }, update)
        if (!this.#pins.has(server.name)) silent.push(server.name)
      }),
    )
    const tools = [...this.#servers].flatMap(([name, server]) =>
      Object.entries(this.#pins.get(name) ?? {}).flatMap(([tool, pin]) => {
        const known = approvedTool(pin)
        return known && server.mayHaveTool(tool)
          ? [{ name: qualifiedToolName(name, tool), description: known.description, schema: known.schema }]
          : []
      }),
    )
    return { tools, silent }
  }

  #named(name: string): ConfiguredServer {
    const server = this.#servers.get(name)
    if (server) return server
    const known = [...this.#servers.keys()].join(', ')
    throw new TirelessError('not_found', {
      ...{
        what: 'no such MCP server',
        got: name,
        expected: known === '' ? 'one of mcp_servers' : `one of ${known}`,
      },
      fix: 'add it to mcp_servers in the configuration',
    })
  }

  #stateOf(server: ConfiguredServer): McpState {
    const { name, options } = server
    const { state, protocol, error, stderr } = server.state()
    return {
      ...{ name, transport: options.command ? 'stdio' : 'http', state, protocol },
      error: error === null ? null : this.#redacted(error),
      stderr: stderr.map((line) => this.#redacted(line)),
      tools: Object.entries(this.#pins.get(name) ?? {}).map(([tool, pin]) => toolState(server, tool, pin)),
    }
  }

  #redacted(text: string): string {
    return this.#options.redact(text)
  }

  /** A message for the owner about a tool that waits for approval, with a diff of its description. */
  #describeWaiting(name: string, tool: string): string {
    const pin = this.#pins.get(name)?.[tool]
    return this.#redacted(`${describeDisabled(name, tool, pin)}\n${pin ? diffPin(tool, pin) : ''}`)
  }
}

const settingOf = (server: string): string => `mcp ${server}`

/**
 * Contract: the stored pins of a server; null if the server is new. Unreadable pins are returned as empty, not as null,
 * because all tools of a new server are approved.
 */
async function readPins(store: Pick<Store, 'setting'>, server: string): Promise<Pins | null> {
  const pins = await fallbackIfUnreadable(store.setting(settingOf(server)), {})
  return pins === null || (typeof pins === 'object' && !Array.isArray(pins)) ? (pins as Pins | null) : {}
}

const refused = (why: string): McpCallOutcome => ({ kind: 'refused', why })
