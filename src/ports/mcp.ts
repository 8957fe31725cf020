/** McpServers: the configured MCP servers, for commands by which the owner checks and approves them. */

import type { Effect } from '../domain/effect.ts'
import type { OwnerNote } from '../domain/owner-note.ts'

export interface McpTool {
  /** `tool` is the name that the server uses, `name` the name that agents use. */
  readonly tool: string
  readonly name: string
  readonly description: string
  readonly effect: Effect
  /** True if the owner has declared the tool's effect. */
  readonly declared: boolean
  /**
   * Tools that are `new` or `changed` cannot be called until the owner approves them. `gone`: the server removed the
   * tool.
   */
  readonly status: 'approved' | 'changed' | 'new' | 'gone'
  /** Line diff from the approved to the current definition of the tool; empty if nothing awaits approval. */
  readonly difference: string
}

export interface McpState {
  readonly name: string
  readonly transport: 'stdio' | 'http'
  readonly state: 'idle' | 'starting' | 'up' | 'down'
  /** Protocol version, while the server is up. */
  readonly protocol: string | null
  readonly error: string | null
  /** The last lines of the server's stderr. */
  readonly stderr: readonly string[]
  /** Every tool that the server has ever offered. */
  readonly tools: readonly McpTool[]
}

export interface McpServers {
  /** Contract: starts no server. */
  list(): Promise<readonly McpState[]>
  /**
   * Contract: returns why a stopped server could not be started now; null if no problem is known. Starts no process.
   */
  startProblem(server: string): Promise<string | null>
  /**
   * Contract: starts the server if necessary and lists its tools. Problems are reported in the returned state. Throws
   * `not_found` for an unknown server.
   */
  test(server: string): Promise<McpState>
  /**
   * Contract: approves one tool, or all tools of the server that await approval, as they were last seen; returns their
   * names.
   */
  approve(server: string, tool?: string): Promise<readonly string[]>
  /** Contract: the approvals of its tools are gone; a server of this name counts as new. */
  forget(server: string): Promise<void>
  /** Contract: starts the server if necessary; the text of the resource. Throws `tool_failed` or `not_found`. */
  readResource(server: string, uri: string, signal: AbortSignal): Promise<string>
  /**
   * Contract: as `readResource`; calls `onChange` when the server reports a change, until `signal` aborts or the
   * connection ends. False: the server cannot report changes.
   */
  subscribeResource(server: string, uri: string, onChange: () => void, signal: AbortSignal): Promise<boolean>
  /** Contract: applies a changed configuration; starts no server. */
  refresh(): Promise<void>
  /** Contract: returns notes for the owner, such as problems of servers. */
  notes(): readonly OwnerNote[]
}
