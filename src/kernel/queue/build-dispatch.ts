/**
 * Builds the dispatch of a planned agent.
 * Must not know: why the agent was planned, what becomes of the dispatch.
 */

import type { Agent, WatchMarks, WatchReport } from '../../domain/agent.ts'
import type { NewDispatch } from '../../domain/dispatch.ts'
import { UNTRUSTED_LABEL } from '../../domain/label.ts'
import type { OwnerNote } from '../../domain/owner-note.ts'
import { buildAgentPrompt, type PromptValues } from '../cycle/agent-prompt.ts'
import type { AgentCandidate, PlannedDispatch } from '../cycle/planners/planner.ts'
import { chatOfKernel } from '../notify/notice-target.ts'
import type { KernelDeps } from '../settings.ts'

interface DispatchOrder {
  /** Undefined: a dispatch by hand. */
  readonly cycle_id?: string
  readonly candidate: AgentCandidate
  readonly planned: PlannedDispatch
  /** Values of the placeholders in the agent's prompt. */
  readonly insertions: Omit<PromptValues, 'watched' | 'folder'>
}

/** Contract: throws `workspace_refused` if the agent's folder is not allowed. Adds notes for the owner to `notes`. */
export async function buildDispatch(
  deps: KernelDeps,
  { cycle_id, candidate, planned, insertions }: DispatchOrder,
  notes: OwnerNote[],
): Promise<NewDispatch> {
  const { ids, settings, prepareWorkspace } = deps
  const { agent, fingerprint } = candidate
  const { prompt = agent.prompt, priority = agent.priority, reason, by_model = false } = planned
  const { id: kernel_id, user_id } = settings()
  const dispatch_id = ids.next()
  const session_id = `kernel-${agent.agent_id}-${dispatch_id}`
  const workspace = await prepareWorkspace(session_id, agent.workspace)
  const survey = await surveyFor(deps, candidate, prompt)
  const folder = deps.nameWorkspace?.(workspace) ?? workspace
  const values = { ...insertions, watched: survey?.text ?? '', folder }
  const built = buildAgentPrompt(prompt, values, dispatch_id)
  notes.push(...placeholderNotes(agent.agent_id, built))
  return {
    dispatch_id,
    kernel_id,
    cycle_id,
    agent_id: agent.agent_id,
    session_id,
    prompt: built.prompt,
    priority,
    metadata: {
      ...agent.metadata,
      ...built.metadata,
      ...(by_model ? { label: { ...UNTRUSTED_LABEL }, words: 'model' } : {}),
      ...(user_id === null ? {} : { user_id }),
      ...(await chatOfKernel(deps)),
      ...(agent.timeout === undefined ? {} : { budget: { ms: agent.timeout } }),
      ...(survey ? { watched: { ...survey.marks } } : {}),
      ...{ sight: fingerprint, reason },
    },
    source: 'cycle',
    workspace,
  }
}

function placeholderNotes(
  agent_id: string,
  { unknownPlaceholders, truncatedPlaceholders }: ReturnType<typeof buildAgentPrompt>,
): readonly OwnerNote[] {
  const names = unknownPlaceholders.map((name) => `{${name}}`).join(', ')
  const unknown = {
    about: `placeholders ${agent_id} ${names}`,
    text: `${agent_id}: unknown placeholders ${names}; they are left unchanged`,
    zh: `${agent_id}：不认识 ${names}，保持原样`,
  }
  const truncated = truncatedPlaceholders.map((name) => ({
    about: `cut ${agent_id} ${name}`,
    text: `${agent_id}: {${name}} is too long, so the prompt has only its beginning. Shorten it.`,
    zh: `${agent_id}：{${name}} 太长，提示中只有开头部分：请缩短它`,
  }))
  return unknownPlaceholders.length > 0 ? [unknown, ...truncated] : truncated
}

/**
 * Describes what the agent watches, and what is new since its last successful run; a failed run did not deal with what
 * it saw. Undefined: the prompt does not ask for it.
 */
async function surveyFor(
  { survey }: KernelDeps,
  { agent, recent }: AgentCandidate,
  prompt: string,
): Promise<WatchReport | undefined> {
  if (agent.watch.length === 0 || !prompt.includes('{WATCHED}')) return undefined
  const last = recent.find(({ status, metadata }) => status === 'done' && metadata.watched !== undefined)
  return survey(agent, last?.metadata.watched as WatchMarks | undefined)
}

/**
 * An agent without settings, for an added schedule that names an agent which is not configured; the schedule has the
 * prompt.
 */
export const bareAgent = (agent_id: string): Agent => ({
  agent_id,
  ...{ prompt: '', priority: 0, enabled: true, metadata: {}, schedule: null, cooldown: 0, watch: [] },
  ...{ model: null, tools: null, workspace: null },
})
