/** McpServers: the configured MCP servers, as the owner sees them. */

import type { Effect } from '../domain/effect.ts'
import type { OwnerNote } from '../domain/owner-note.ts'

export interface McpTool {
  /** `tool` is the server's name for it, `name` the agents'. */
  readonly tool: string
  readonly name: string
  readonly description: string
  readonly effect: Effect
  /** The owner has declared its effect. */
  readonly declared: boolean
  /** `new` and `changed` need the owner's approval before they can be called; `gone`: removed by the server. */
  readonly status: 'approved' | 'changed' | 'new' | 'gone'
  /** Line diff of what awaits approval; empty if nothing does. */
  readonly difference: string
}

export interface McpState {
  readonly name: string
  readonly transport: 'stdio' | 'http'
  readonly state: 'idle' | 'starting' | 'up' | 'down'
  /** Protocol version, while it is up. */
  readonly protocol: string | null
  readonly error: string | null
  /** Last lines of its stderr. */
  readonly stderr: readonly string[]
  /** Every tool ever seen. */
  readonly tools: readonly McpTool[]
}

export interface McpServers {
  /** Contract: starts nothing. */
  list(): Promise<readonly McpState[]>
  /** Contract: returns why a stopped server could not be started now; null if nothing is known. Starts no process. */
  startProblem(server: string): Promise<string | null>
  /** Contract: starts the server if necessary and lists its tools. Problems are in its state; throws `not_found`. */
  test(server: string): Promise<McpState>
  /** Contract: approves the pending tools as they were last seen; returns their names. */
  approve(server: string, tool?: string): Promise<readonly string[]>
  /** Contract: applies a changed configuration; starts nothing. */
  refresh(): Promise<void>
  /** Contract: returns what the owner should know. */
  notes(): readonly OwnerNote[]
}
