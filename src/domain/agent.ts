/** Agent: a name with a prompt, tools and a schedule, as its owner configures it. */

import type { Json } from './json.ts'
import type { ScheduleSpec } from './schedule.ts'

/**
 * What an agent watches: a path, or a mapping with `path` (a file, or a folder with its contents except the names in
 * `except`) or `git` (a work tree with its commits and changes). Paths are relative to the home.
 */
export type WatchSpec = string | Readonly<Record<string, Json>>

/** The watched files and commits as text, with the marks by which the next report tells what is new. */
export interface WatchReport {
  readonly text: string
  readonly marks: WatchMarks
}

export interface WatchMarks {
  /** The time of the newest change to a watched file, by the file system's clock. */
  readonly newest: number
  /** The last commit of each work tree, by its path. */
  readonly heads: Readonly<Record<string, string>>
}

/**
 * The agent that the owner talks to. It runs when it is written to, not at beats. All agents use its behaviours unless
 * they have their own under the same name.
 */
export const ASSISTANT = 'assistant'

/** The agent of tasks that name none. */
export const DEFAULT_AGENT = 'default'

/** Operating systems on which an agent can work. */
export type Platform = 'linux' | 'macos' | 'windows'

export interface Agent {
  readonly agent_id: string
  /** What other agents may give it to do; null or undefined: it is not offered to them. */
  readonly description?: string | null | undefined
  /** The operating system that its work needs; null or undefined: any. */
  readonly platform?: Platform | null | undefined
  readonly prompt: string
  readonly priority: number
  readonly enabled: boolean
  readonly metadata: Readonly<Record<string, Json>>
  /** The agent's own schedule. An agent that has one is not due at the kernel's beats. */
  readonly schedule: ScheduleSpec | null
  /** True: at the kernel's beats the agent runs only if something that it sees has changed, whatever the planner. */
  readonly only_on_change?: boolean | undefined
  /** Time limit of a dispatch in milliseconds of work; null: no limit; undefined: the default limit of dispatches. */
  readonly timeout?: number | null | undefined
  /** Milliseconds to wait after a success before the agent is due again. */
  readonly cooldown: number
  readonly watch: readonly WatchSpec[]
  readonly model: string | null
  readonly tools: readonly string[] | null
  /** Path relative to the home; null: each dispatch gets a folder of its own. */
  readonly workspace: string | null
}

/** Whether the agent does not run by itself, but when it gets a message or a task. */
export const isOnCall = ({ agent_id, enabled, description }: Pick<Agent, 'agent_id' | 'enabled' | 'description'>) =>
  !enabled && (agent_id === ASSISTANT || (description ?? null) !== null)
