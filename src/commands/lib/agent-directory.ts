/** What commands can do with the files that define agents, and what people choose for agents. */

import type { Agent } from '../../domain/agent.ts'
import type { EffectReach } from '../../domain/effect.ts'
import type { Json } from '../../domain/json.ts'
import type { ConfigChange } from './context.ts'

/** An agent, and the file that defines it. */
export interface DefinedAgent {
  readonly agent: Agent
  readonly file: string
}

/** All agents, and the files that define them. */
export interface AgentDirectory {
  all(): readonly DefinedAgent[]
  /** Contract: the agent as its file describes it now; `all` may lag behind. Throws `config_invalid`. */
  onDisk(agentId: string): Agent
  /** Contract: writes a new agent's file and returns the name of the file; if it throws, no file exists. */
  add(agentId: string, keys: Readonly<Record<string, Json>>): string
  /** Contract: throws what `add` would throw; the agent as it would be. Leaves nothing behind. */
  tryAdd(agentId: string, keys: Readonly<Record<string, Json>>): DefinedAgent
  /**
   * Contract: changes the agent's file and returns the path of a copy of the file before; a throw changes nothing.
   * Paths start at the agent.
   */
  change(agentId: string, changes: readonly ConfigChange[]): string | null
  /** Contract: throws what `change` would throw; the agent as it would be. Changes nothing. */
  tryChange(agentId: string, changes: readonly ConfigChange[]): DefinedAgent
  /** Contract: the texts of `role.md` and `self.md` in the agent's folder; null: there is no such file. */
  documents(agentId: string): Readonly<Record<AgentDocument, string | null>>
  /**
   * Contract: replaces the whole text; an empty one removes the file. Returns the path of a copy of the text before;
   * null if there was none.
   */
  writeDocument(agentId: string, name: AgentDocument, text: string): string | null
  /** Contract: the names in the agent's folder, if there is one: a new agent of this id would have these files. */
  filesLeft(agentId: string): readonly string[]
  /** Contract: the agent is gone; all that described it is in a folder that is in no other agent's way. */
  remove(agentId: string): RemovedAgent
}

/** Where a removed agent is kept: the folder `kept`, moved to `own`, is the agent again. */
interface RemovedAgent {
  readonly kept: string
  readonly own: string
  /** A copy of the configuration file from before; null: the agent did not stand in it. */
  readonly before: string | null
}

/** Files that say who an agent is: the owner's words, and what it wrote about itself. */
export type AgentDocument = 'role.md' | 'self.md'

/** A tool, as people choose it for an agent. */
export interface KnownTool {
  readonly name: string
  readonly description: string
  /** Null: it depends on the call. */
  readonly reach: EffectReach | null
  /** Whether an agent gets it that lists no tools. */
  readonly isOffered: boolean
  /** Whether it says where its calls go; else every argument may be a destination. */
  readonly namesDestinations: boolean
}
