/** SubAgents: starts runs for other runs. */

import type { FactOrigin } from '../domain/fact.ts'
import type { Label } from '../domain/label.ts'
import type { OpenAgent } from '../domain/sub-agent.ts'

/** What a run can hand on to a sub-agent: never more than it has itself. */
export interface Delegation {
  readonly run: string
  /** 0 for a run that no other run spawned. */
  readonly depth: number
  /** The run's own agent and those above it, nearest first. */
  readonly agents: readonly string[]
  readonly tools: readonly string[]
  /** True: the run cannot write to its workspace. */
  readonly read_only: boolean
  /** What is left of the run's budget after one more answer of its own; null: no limit. */
  readonly usd_left: number | null
  /** Its sub-agents whose results it has not read. */
  readonly open: readonly OpenAgent[]
  readonly workspace_label: Label
}

export interface SpawnRequest {
  /** Key of the call, so that a repeated call starts nothing. */
  readonly call: string
  readonly origin: FactOrigin
  /** The label of the session that spawns. */
  readonly label: Label
  readonly delegation: Delegation
  /** Undefined: the run's own agent. */
  readonly agent: string | undefined
  readonly task: string
  readonly todo: string | undefined
  /** The most that it may spend, in US dollars. */
  readonly usd: number | undefined
}

export interface SubAgents {
  /** Contract: the agents that are made to work for others, with what they do. */
  specialists(): readonly { readonly agent: string; readonly description: string }[]
  /**
   * Contract: the sub-agent is in the queue when it resolves, with a copy of the workspace of its own. Throws
   * `not_found` for an unknown agent, `conflict` if the run may start no other, `tool_failed` if the workspace cannot
   * be copied.
   */
  spawn(request: SpawnRequest): Promise<OpenAgent>
}
