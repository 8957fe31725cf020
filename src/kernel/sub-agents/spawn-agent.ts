/**
 * Starts a sub-agent: checks what its parent may hand on, copies the parent's workspace, and enqueues the run.
 * Must not know: what the sub-agent does, and how its parent learns of its end.
 * Invariants: a repeated call starts nothing, because all ids follow from the call. The sub-agent is never trusted more
 * than its parent (I12), and gets no money, tool or grant that its parent does not have (case 114, case 115).
 */

import { join } from 'node:path'
import { type Agent, ASSISTANT } from '../../domain/agent.ts'
import type { Issue } from '../../domain/decision.ts'
import type { Dispatch, NewDispatch } from '../../domain/dispatch.ts'
import { editDistance } from '../../domain/edit-distance.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import { closedKey, isCleanLabel, workspaceKey } from '../../domain/label.ts'
import {
  MAX_AGENT_DEPTH,
  MAX_OPEN_AGENTS,
  type OpenAgent,
  readSpawnedBy,
  SUB_AGENTS_FOLDER,
} from '../../domain/sub-agent.ts'
import { withWorkspaceLock } from '../../engine/workspace-lock.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Snapshots } from '../../ports/snapshots.ts'
import { commitOne, type Op, type Store } from '../../ports/store.ts'
import type { SpawnRequest, SubAgents } from '../../ports/sub-agents.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { idFromCall } from '../queue/id-from-call.ts'

interface SpawnDeps {
  readonly store: Store
  readonly clock: Clock
  readonly kernelId: string
  readonly snapshots: Snapshots
  /** The folder of all workspaces. */
  readonly workspaces: string
  /** Contract: the agents of the home. */
  agents(): readonly Agent[]
  /** Contract: why the agent cannot work on this machine; empty if it can. */
  agentIssues(agentId: string): readonly Issue[]
  /** Contract: `to` is a copy of `from`, whatever it was before. Throws if `from` is too large. */
  copyWorkspace(from: string, to: string): Promise<void>
}

export const createSubAgents = (deps: SpawnDeps): SubAgents => ({
  spawn: (request) => spawn(deps, request),
  specialists: () =>
    deps.agents().flatMap(({ agent_id, description }) => (description ? [{ agent: agent_id, description }] : [])),
})

async function spawn(deps: SpawnDeps, request: SpawnRequest): Promise<OpenAgent> {
  const { store, clock } = deps
  const run = idFromCall('spawn', request.call)
  const known = await store.dispatch(run)
  if (known) return describeSpawned(known)
  checkLimits(request)
  const agent = findAgent(deps, request)
  const [issue] = deps.agentIssues(agent.agent_id)
  if (issue) throw new TirelessError('conflict', issue.message)
  const usd = budgetOf(request)
  const task = await describeTask(deps, request)
  const parent = await store.dispatch(request.delegation.run)
  const session = await store.session(request.origin.session_id)
  if (!parent || !session) throw new TirelessError('internal', `the run ${request.delegation.run} has no session`)
  const session_id = `${agent.agent_id}-${run}`
  const workspace = join(deps.workspaces, SUB_AGENTS_FOLDER, session_id)
  await copyForChild(deps, { from: session.workspace, to: workspace, run })
  const dispatch: NewDispatch = {
    ...{ dispatch_id: run, kernel_id: deps.kernelId, agent_id: agent.agent_id, session_id, workspace },
    ...{ prompt: task, priority: parent.priority, parent_id: parent.dispatch_id },
    ...{ source: 'spawn', key: request.call, metadata: childMetadata(request, agent, parent, usd) },
  }
  const { workspace_label: label } = request.delegation
  const closed = await store.label(closedKey(session.workspace))
  const ops: Op[] = [
    { op: 'enqueue', dispatches: [dispatch], now: clock.now() },
    ...(isCleanLabel(label) ? [] : [{ op: 'label' as const, of: workspaceKey(workspace), label }]),
    ...(closed === undefined ? [] : [{ op: 'label' as const, of: closedKey(workspace), label: closed }]),
  ]
  await commitOne(store, ops)
  return { run, agent: agent.agent_id, usd, todo: request.todo ?? null }
}

/** Of a repeated call. */
function describeSpawned({ dispatch_id, agent_id, metadata }: Dispatch): OpenAgent {
  const { usd } = (metadata.budget ?? {}) as Readonly<Record<string, Json>>
  const todo = readSpawnedBy(metadata)?.todo ?? null
  return { run: dispatch_id, agent: agent_id, usd: typeof usd === 'number' ? usd : null, todo }
}

/** The task, with the checks and the latest notes of its todo. */
async function describeTask({ store }: SpawnDeps, { task, todo: code, origin }: SpawnRequest): Promise<string> {
  if (code === undefined) return task
  const todo = await store.todo(origin.session_id, code)
  if (!todo)
    throw new TirelessError('not_found', {
      ...{ what: 'no such todo', got: code, expected: 'a code of todo_list, or no todo' },
    })
  const checks = todo.checks.map((check) => `- ${JSON.stringify(check)}`)
  const notes = todo.notes.slice(-MAX_NOTES).map(({ verb, text }) => `- ${verb}: ${text}`)
  return [
    task,
    ...(checks.length === 0 ? [] : [loadPrompt('requests/delegated.md#checks', { checks: checks.join('\n') })]),
    ...(notes.length === 0 ? [] : [loadPrompt('requests/delegated.md#notes', { notes: notes.join('\n') })]),
  ].join('\n\n')
}

/** Maximum number of notes of a todo that its sub-agent reads. */
const MAX_NOTES = 5

function checkLimits({ delegation: { depth, open } }: SpawnRequest): void {
  if (depth >= MAX_AGENT_DEPTH)
    throw new TirelessError('conflict', {
      what: 'this run is itself a sub-agent and may spawn none',
      got: `depth ${depth + 1}`,
      expected: `at most ${MAX_AGENT_DEPTH} below the first run`,
      fix: 'do the work yourself',
    })
  if (open.length >= MAX_OPEN_AGENTS)
    throw new TirelessError('conflict', {
      what: 'too many sub-agents of this run are without a result',
      got: String(open.length),
      expected: `at most ${MAX_OPEN_AGENTS} at a time`,
      fix: 'call wait for agents, and spawn this one after a result has come',
    })
}

function findAgent(
  { agents }: SpawnDeps,
  { agent: wanted, origin }: SpawnRequest,
): Pick<Agent, 'agent_id' | 'metadata'> {
  const all = agents()
  const agent_id = wanted ?? origin.agent_id
  const found = all.find((agent) => agent.agent_id === agent_id)
  if (found) return found
  if (agent_id === origin.agent_id || agent_id === ASSISTANT) return { agent_id, metadata: {} }
  const known = [...new Set([...all.map((agent) => agent.agent_id), ASSISTANT])]
  const near = known.toSorted((a, b) => editDistance(a, agent_id) - editDistance(b, agent_id)).slice(0, MAX_NAMED)
  throw new TirelessError('not_found', {
    what: 'no such agent',
    got: agent_id,
    expected: `one of ${near.join(', ')}, or no agent: your own`,
  })
}

const MAX_NAMED = 5

/** Contract: the most that the sub-agent may spend; null: no limit. */
function budgetOf({ usd: asked, delegation: { usd_left } }: SpawnRequest): number | null {
  if (usd_left === null) return asked ?? null
  if (usd_left <= 0)
    throw new TirelessError('conflict', {
      what: 'the budget of this run is too low for a sub-agent',
      got: 'nothing left besides one more answer of its own',
      fix: 'do the work yourself, or finish',
    })
  return Math.min(asked ?? usd_left, usd_left)
}

/** The base of the later merge is the snapshot of turn 0. */
async function copyForChild(
  { store, snapshots, copyWorkspace }: SpawnDeps,
  { from, to, run }: { readonly from: string; readonly to: string; readonly run: string },
): Promise<void> {
  try {
    await withWorkspaceLock(store, from, () => copyWorkspace(from, to))
  } catch (thrown) {
    throw new TirelessError('tool_failed', `the workspace cannot be copied: ${asTirelessError(thrown).message}`)
  }
  const taken = await snapshots.take(to, { run_id: run, turn: 0, before: true })
  // What the snapshot left out could not be merged.
  if (taken !== undefined && ![...(await snapshots.omittedFrom(taken)).values()].includes('too_large')) return
  throw new TirelessError('tool_failed', {
    what: 'the workspace is too large for sub-agents',
    where: from,
    fix: 'do the work yourself; or move data and build output out of the workspace',
  })
}

function childMetadata(
  { delegation, label, todo }: SpawnRequest,
  agent: Pick<Agent, 'metadata'> & Partial<Agent>,
  parent: Dispatch,
  usd: number | null,
): NewDispatch['metadata'] {
  const { channel, chat_id, user_id } = parent.metadata
  const chat = Object.entries({ channel, chat_id, user_id }).filter(([, value]) => value !== undefined)
  const budget = { ...(agent.timeout === undefined ? {} : { ms: agent.timeout }), ...(usd === null ? {} : { usd }) }
  return {
    ...agent.metadata,
    ...(Object.fromEntries(chat) as NewDispatch['metadata']),
    ...(Object.keys(budget).length === 0 ? {} : { budget }),
    // The task is the text of a model. It is not the owner's word, whatever it says.
    words: 'model',
    ...(isCleanLabel(label) ? {} : { label: { ...label } }),
    spawned_by: {
      ...{ run: delegation.run, depth: delegation.depth + 1, ...(todo === undefined ? {} : { todo }) },
      ...{ agents: [...delegation.agents], tools: [...delegation.tools], read_only: delegation.read_only },
    },
  }
}
