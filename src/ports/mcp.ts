/** McpServers: the servers that bring tools from elsewhere, as their owner sees them. */

import type { Effect } from '../domain/effect.ts'
import type { Note } from '../domain/note.ts'

export interface McpTool {
  /** As the server calls it, and as agents do. */
  readonly tool: string
  readonly name: string
  readonly description: string
  readonly effect: Effect
  /** Whether anybody has said what it does. */
  readonly declared: boolean
  /** `new` and `changed` wait for the owner's word, and cannot be called until then; `gone`: the server has it no more. */
  readonly status: 'approved' | 'changed' | 'new' | 'gone'
  /** What waits for it, line by line; empty where nothing does. */
  readonly difference: string
}

export interface McpState {
  readonly name: string
  readonly transport: 'stdio' | 'http'
  readonly state: 'idle' | 'starting' | 'up' | 'down'
  /** The version of the protocol that it speaks, while it is up. */
  readonly protocol: string | null
  readonly error: string | null
  /** The last lines of it. */
  readonly stderr: readonly string[]
  /** Those that were ever seen. */
  readonly tools: readonly McpTool[]
}

export interface McpServers {
  /** Contract: starts nothing. */
  list(): Promise<readonly McpState[]>
  /** Contract: starts it where it does not run, and looks at its tools. What is wrong with it is in its state; `not_found` where there is none. */
  test(server: string): Promise<McpState>
  /** Contract: what waits for the owner's word has it, as it was last seen; says of which tools. */
  approve(server: string, tool?: string): Promise<readonly string[]>
  /** Contract: the configuration may be another one; starts nothing. */
  refresh(): Promise<void>
  /** Contract: what its owner should hear of. */
  notes(): readonly Note[]
}
