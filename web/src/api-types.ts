/** The outputs of commands that the page reads, as their schemas describe them. */

import type { CommandOutput } from '../../src/commands/lib/registry.ts'

export type Status = CommandOutput<'status'>
export type Resident = Status['residents'][number]
/** A process that works on the store. */
export type Worker = Status['workers'][number]

/** A stored cycle; its result is null while it runs. */
export type CycleRecord = CommandOutput<'cycles list'>['items'][number]

type CycleResult = NonNullable<CycleRecord['result']>

/** A cycle as the page shows it. `started_at` is missing if the cycle comes from the status. */
export interface Cycle extends Omit<CycleResult, 'status' | 'agents' | 'failed_agents'> {
  readonly status: CycleResult['status'] | 'running'
  readonly agents: readonly Pick<CycleResult['agents'][number], 'agent_id' | 'status'>[]
  readonly started_at?: string
}

export type Dispatch = CommandOutput<'queue list'>['items'][number]
export type Approval = CommandOutput<'approvals list'>['items'][number]
export type Unknown = CommandOutput<'unknowns list'>['items'][number]

/** Something that waits for the owner, of whatever kind. */
export type ListedNeed = CommandOutput<'needs list'>['items'][number]

/** A message of the owner, with the runs that worked on it. */
export type Message = CommandOutput<'messages list'>['items'][number]
export type MessageRun = Message['runs'][number]
export type UndoPlan = CommandOutput<'undo'>
export type Schedule = CommandOutput<'schedule list'>['items'][number]
export type WorkspaceEntry = CommandOutput<'workspace list'>['items'][number]
/** What one run changed in a workspace. */
export type WorkspaceWrite = CommandOutput<'workspace log'>['items'][number]
export type ChangedFile = CommandOutput<'workspace diff'>['files'][number]

/** All agents; residents and the built-in one apart. */
export type AgentList = CommandOutput<'agent list'>
export type AgentEntry = AgentList['items'][number]
/** What `agent new` would create. */
export type AgentPreview = CommandOutput<'agent new'>
/** One agent with all that can be edited. */
export type AgentDetails = CommandOutput<'agent show'>
export type ToolEntry = CommandOutput<'tools list'>['items'][number]
export type WorkspaceFile = CommandOutput<'workspace files'>['items'][number]
export type SessionEntry = CommandOutput<'sessions list'>['items'][number]
export type Thread = CommandOutput<'sessions log'>
export type ThreadRun = Thread['items'][number]
export type Todo = CommandOutput<'todo list'>['items'][number]
export type TodoDetails = CommandOutput<'todo show'>
/** The coming beats, and what they may cost. */
export type Simulation = CommandOutput<'simulate'>
