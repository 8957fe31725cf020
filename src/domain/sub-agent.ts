/**
 * Sub-agent: a run that another run started with `spawn_agent`. Its metadata links it to its parent and limits what it
 * may do; its end is an observation for the parent. Pure.
 */

import type { Dispatch, DispatchStatus } from './dispatch.ts'
import type { Json } from './json.ts'
import { CLEAN_LABEL, isCleanLabel, type Label } from './label.ts'
import type { Observation } from './observation.ts'

/** Name of the event that brings the result of a sub-agent. */
export const AGENT_RESULT = 'agent_result'
/** The folder of their workspaces, among all workspaces. No agent has this name. */
export const SUB_AGENTS_FOLDER = '.sub-agents'

/** Whether a folder of a home is the copy in which a sub-agent works. */
export const isSubAgentFolder = (folder: string): boolean => folder.startsWith(`workspaces/${SUB_AGENTS_FOLDER}/`)
/** A run that no other run spawned has depth 0. */
export const MAX_AGENT_DEPTH = 3
/** How many sub-agents of one run may be without a result at a time. */
export const MAX_OPEN_AGENTS = 8

/** What the metadata of a sub-agent says about its parent (`spawned_by`). */
interface SpawnedBy {
  readonly run: string
  readonly depth: number
  /** The todo of the parent that it works on. */
  readonly todo?: string
  /** The agents above it, nearest first. */
  readonly agents: readonly string[]
  /** The tools that its parent had when it was spawned; it gets no other. */
  readonly tools: readonly string[]
  /** True: its parent could not write to its workspace, so neither can it, and nothing is merged. */
  readonly read_only: boolean
}

/** Contract: undefined if no run spawned the dispatch. Metadata may contain anything; in doubt it allows less. */
export function readSpawnedBy({ spawned_by: link }: Dispatch['metadata']): SpawnedBy | undefined {
  if (typeof link !== 'object' || link === null || Array.isArray(link)) return undefined
  const { run, depth, todo, agents, tools, read_only } = link as Readonly<Record<string, Json>>
  return {
    run: typeof run === 'string' ? run : '',
    depth: typeof depth === 'number' ? depth : MAX_AGENT_DEPTH,
    ...(typeof todo === 'string' ? { todo } : {}),
    agents: textsOf(agents),
    tools: textsOf(tools),
    read_only: read_only !== false,
  }
}

const textsOf = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []

/** A file that the sub-agent and another writer changed. */
interface MergeConflict {
  readonly path: string
  /** Where the parent finds the sub-agent's version; null: the sub-agent deleted the file. */
  readonly kept_at: string | null
}

/** What a run says about its end; undefined members: the run never began, or died. */
export interface ChildReport {
  /** US dollars, with those of its own sub-agents. */
  readonly cost_usd: number
  /** Files that were merged into the parent's workspace. */
  readonly files: readonly string[]
  readonly conflicts: readonly MergeConflict[]
  /** Why its files were not merged. */
  readonly not_merged?: string
  readonly label: Label
}

type EndedChild = Pick<Dispatch, 'dispatch_id' | 'agent_id' | 'metadata' | 'result' | 'error' | 'attempts'> & {
  readonly status: DispatchStatus
}

export const agentResultId = (run: string): string => `agent-result-${run}`

/**
 * Contract: the same id for the same run, so that a result is delivered once. `isLate`: the parent run has ended, so
 * the result wakes and starts nothing.
 */
export function agentResult(
  child: EndedChild,
  report: ChildReport | undefined,
  { isLate, now }: { readonly isLate: boolean; readonly now: number },
): Observation {
  const { dispatch_id: run, agent_id: agent, status, result: answer, error } = child
  const link = readSpawnedBy(child.metadata)
  const label = report?.label ?? CLEAN_LABEL
  // A run that died may have spent anything up to its limit; one that never began has spent nothing.
  const cost_usd = report?.cost_usd ?? (child.attempts === 0 ? 0 : null)
  const payload: Json = {
    ...{ agent, run, ...(link?.todo === undefined ? {} : { todo: link.todo }), status, answer, cost_usd },
    ...{ files: [...(report?.files ?? [])], conflicts: (report?.conflicts ?? []).map((conflict) => ({ ...conflict })) },
    ...(report?.not_merged === undefined ? {} : { not_merged: report.not_merged }),
    error,
    ...(isLate ? { late: true } : {}),
  }
  return {
    ...{ id: agentResultId(run), type: 'system_event', name: AGENT_RESULT, payload, ts: now },
    ...(isCleanLabel(label) ? {} : { label }),
    ...(isLate ? { quiet: true } : {}),
  }
}

/** What a parent reads of a result. */
interface ReadResult {
  readonly run: string
  /** Files that were merged. */
  readonly files: readonly string[]
  /** Null: unknown. */
  readonly cost_usd: number | null
}

/** Contract: undefined if the observation is no result of a sub-agent. */
export function readAgentResult(observation: Observation): ReadResult | undefined {
  if (observation.type !== 'system_event' || observation.name !== AGENT_RESULT) return undefined
  const { run, files, cost_usd } = (observation.payload ?? {}) as Readonly<Record<string, Json>>
  if (typeof run !== 'string') return undefined
  return {
    run,
    files: textsOf(files),
    cost_usd: typeof cost_usd === 'number' ? cost_usd : null,
  }
}

/** Contract: the result in words, for the todo that the sub-agent worked on. */
export function describeResult(observation: Observation): { readonly isDone: boolean; readonly text: string } {
  const payload = observation.type === 'system_event' ? observation.payload : undefined
  const { status, answer, error, conflicts } = (payload ?? {}) as Readonly<Record<string, Json>>
  const isDone = status === 'done'
  const said = [answer, error].find((text) => typeof text === 'string' && text !== '') ?? `it is ${status}`
  const paths = Array.isArray(conflicts) ? conflicts.map((one) => (one as Readonly<Record<string, Json>>).path) : []
  const refused = paths.length === 0 ? '' : ` (not merged, because others changed them too: ${paths.join(', ')})`
  return { isDone, text: `${said}${refused}` }
}

/** What a run has delegated: a sub-agent without a result yet. */
export interface OpenAgent {
  readonly run: string
  readonly agent: string
  /** Reserved from the parent's budget; null: neither has a limit. */
  readonly usd: number | null
  readonly todo: string | null
}

/** Contract: the sub-agent that a successful call of `spawn_agent` started (`facts.spawned`). */
export function readSpawned(facts: Json | undefined): OpenAgent | undefined {
  const { spawned } = (facts ?? {}) as { readonly spawned?: Readonly<Record<string, Json>> }
  if (typeof spawned?.run !== 'string' || typeof spawned.agent !== 'string') return undefined
  const { run, agent, usd, todo } = spawned
  return { run, agent, usd: typeof usd === 'number' ? usd : null, todo: typeof todo === 'string' ? todo : null }
}
