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
import type { KernelDeps } from '../settings.ts'

/** Contract: throws `workspace_refused` if the agent's folder is not allowed. Adds notes for the owner to `notes`. */
export async function buildDispatch(
  deps: KernelDeps,
  cycle_id: string | undefined,
  candidate: AgentCandidate,
  { prompt = candidate.agent.prompt, priority = candidate.agent.priority, reason, by_model = false }: PlannedDispatch,
  insertions: Omit<PromptValues, 'watched'>,
  notes: OwnerNote[],
): Promise<NewDispatch> {
  const { ids, settings, prepareWorkspace: workspace } = deps
  const { agent, fingerprint } = candidate
  const { id: kernel_id, user_id, channel, chat_id } = settings()
  const dispatch_id = ids.next()
  const session_id = `kernel-${agent.agent_id}-${dispatch_id}`
  const survey = await surveyFor(deps, candidate, prompt)
  const values = { ...insertions, watched: survey?.text ?? '' }
  const {
    prompt: fullPrompt,
    metadata,
    unknownPlaceholders: unknown,
    truncatedPlaceholders: cut,
  } = buildAgentPrompt(prompt, values, dispatch_id)
  const names = unknown.map((name) => `{${name}}`).join(', ')
  if (unknown.length > 0)
    notes.push({
      about: `placeholders ${agent.agent_id} ${names}`,
      text: `${agent.agent_id}: unknown placeholders ${names}; they are left unchanged`,
      zh: `${agent.agent_id}：不认识 ${names}，保持原样`,
    })
  for (const name of cut)
    notes.push({
      about: `cut ${agent.agent_id} ${name}`,
      text: `${agent.agent_id}: {${name}} is too long, so the prompt has only its beginning. Shorten it.`,
      zh: `${agent.agent_id}：{${name}} 太长，提示中只有开头部分：请缩短它`,
    })
  return {
    dispatch_id,
    kernel_id,
    cycle_id,
    agent_id: agent.agent_id,
    session_id,
    prompt: fullPrompt,
    priority,
    metadata: {
      ...agent.metadata,
      ...metadata,
      ...(by_model ? { label: { ...UNTRUSTED_LABEL }, words: 'model' } : {}),
      ...(user_id === null ? {} : { user_id }),
      ...(channel === null ? {} : { channel }),
      ...(chat_id === null ? {} : { chat_id }),
      ...(agent.timeout === undefined ? {} : { budget: { ms: agent.timeout } }),
      ...(survey ? { watched: { ...survey.marks } } : {}),
      ...{ sight: fingerprint, reason },
    },
    source: 'cycle',
    workspace: await workspace(session_id, agent.workspace),
  }
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
