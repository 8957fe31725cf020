/**
 * The LLM planner: asks a model which agents to dispatch. The question is a dispatch in the queue, so that budget,
 * journal and crash recovery work as usual. Validates the answer: known agents, each once, up to a limit. An unreadable
 * answer is an error, never an empty plan.
 * Must not know: which model is used.
 */

import { z } from 'zod'
import { clipText } from '../../../domain/clean-summary.ts'
import { asTirelessError } from '../../../domain/error.ts'
import type { OwnerNote } from '../../../domain/owner-note.ts'
import { iso } from '../../../ports/clock.ts'
import { commitOne } from '../../../ports/store.ts'
import { fenceUntrusted, nonceOf } from '../../../prompt-compiler/data-fence.ts'
import { loadPrompt } from '../../../prompts/load-prompt.ts'
import { extractSummary } from '../../autonomy/run-summary.ts'
import { chatOfKernel } from '../../notify/notice-target.ts'
import type { KernelDeps, PlannerSettings } from '../../settings.ts'
import {
  type AgentCandidate,
  dispatchPlan,
  failedPlan,
  idlePlan,
  type Plan,
  type PlannedDispatch,
  type Planner,
  type PlanningContext,
} from './planner.ts'
import { describeBackoff, isBackingOff, stagnationNote } from './stagnation-backoff.ts'
import { describeIdle, findAvailable } from './static.ts'

export const PLANNER_AGENT = 'planner'

/** Priority of the planner's dispatch: above all others, because the whole cycle waits for it. */
const PRIORITY = 1_000_000
const MAX_GOAL = 3000
const MAX_STATE = 6000
const MAX_PURPOSE = 200

export function llmPlanner(deps: KernelDeps): Planner {
  return {
    async plan(occasion, signal): Promise<Plan> {
      const free = findAvailable(occasion)
      const notes = free.flatMap((candidate) => stagnationNote(candidate, !candidate.due) ?? [])
      const open = free.filter((candidate) => !isBackingOff(candidate, occasion))
      if (open.length === 0)
        return idlePlan(free.length === 0 ? describeIdle(occasion) : describeBackoff(free, occasion), notes)
      const { planner } = deps.settings()
      try {
        const answer = await askModel(deps, planner, occasion, open, signal)
        const { planned, refused } = selectFromAnswer(answer, open, planner.max_dispatches)
        const allNotes = [...notes, ...refused]
        return planned.length === 0
          ? idlePlan('the planner found nothing to do', allNotes)
          : dispatchPlan(planned, allNotes)
      } catch (thrown) {
        return failedPlan(asTirelessError(thrown).message, notes)
      }
    },
  }
}

async function askModel(
  deps: KernelDeps,
  { model, timeout, max_dispatches }: PlannerSettings,
  occasion: PlanningContext,
  open: readonly AgentCandidate[],
  signal: AbortSignal,
): Promise<string> {
  const { store, clock, ids, settings, prepareWorkspace: workspace, runDispatches: work } = deps
  const dispatch_id = ids.next()
  const session_id = `kernel-${PLANNER_AGENT}-${dispatch_id}`
  await commitOne(store, [
    {
      op: 'enqueue',
      now: clock.now(),
      dispatches: [
        {
          dispatch_id,
          kernel_id: settings().id,
          cycle_id: occasion.cycle_id,
          agent_id: PLANNER_AGENT,
          session_id,
          prompt: buildPlannerPrompt(occasion, open, max_dispatches, dispatch_id),
          priority: PRIORITY,
          metadata: {
            behaviour: PLANNER_AGENT,
            budget: { steps: 1, ms: timeout },
            ...(model === null ? await chatOfKernel(deps) : { model }),
          },
          source: 'planner',
          key: occasion.cycle_id,
          workspace: await workspace(session_id),
        },
      ],
    },
  ])
  await work([dispatch_id], signal)
  const dispatch = await store.dispatch(dispatch_id)
  if (dispatch?.status === 'done' && dispatch.result !== null) return dispatch.result
  throw new Error(dispatch?.error ?? `the planner did not answer; its dispatch is ${dispatch?.status}`)
}

const answerShape = z.array(
  z.looseObject({
    agent_id: z.string(),
    dispatch: z.boolean().default(true),
    reason: z.string().default(''),
    priority: z.int().optional(),
    prompt: z.string().min(1).optional(),
  }),
)

/** Contract: the agents that the model selected; throws if the answer has no valid list. */
export function selectFromAnswer(
  answer: string,
  open: readonly AgentCandidate[],
  most: number | null,
): { readonly planned: readonly PlannedDispatch[]; readonly refused: readonly OwnerNote[] } {
  const decisions = parseDecisions(answer)
  const known = new Set(open.map(({ agent }) => agent.agent_id))
  const wanted = decisions.filter(({ dispatch }) => dispatch)
  const unknown = [...new Set(wanted.map(({ agent_id }) => agent_id).filter((id) => !known.has(id)))]
  const firstByAgent = new Map(wanted.toReversed().map((entry) => [entry.agent_id, entry] as const))
  const planned = wanted
    .filter((entry) => known.has(entry.agent_id) && firstByAgent.get(entry.agent_id) === entry)
    .map(({ agent_id, reason, priority, prompt }) => ({
      agent_id,
      reason,
      priority,
      prompt,
      by_model: prompt !== undefined,
    }))
  const kept = planned.slice(0, most ?? planned.length)
  const leftOut = planned.slice(kept.length).map(({ agent_id }) => agent_id)
  return {
    planned: kept,
    refused: [
      ...unknown.map((id) => ({
        about: `planner named ${clipText(id, 64)}`,
        text: `the planner named ${JSON.stringify(id)}, which cannot be dispatched now`,
        zh: `规划器点了 ${JSON.stringify(id)}，但它现在不能派发`,
      })),
      ...(leftOut.length === 0 ? [] : [tooMany(leftOut, planned.length, kept.length)]),
    ],
  }
}

const tooMany = (leftOut: readonly string[], named: number, most: number): OwnerNote => ({
  about: 'planner named too many',
  text:
    `the planner named ${named} agents; not dispatched: ${leftOut.join(', ')}. ` +
    `The limit is ${most} (kernel.planner.max_dispatches).`,
  zh: `规划器点了 ${named} 个，最多派发 ${most} 个（kernel.planner.max_dispatches）：${leftOut.join('、')} 未派发`,
})

/** The JSON list in the answer, which may be surrounded by text or a code fence. */
function extractList(answer: string): string {
  const from = answer.indexOf('[')
  const to = answer.lastIndexOf(']')
  if (from < 0 || to < from) throw new Error(`the planner's answer has no list: ${clipText(answer, 200)}`)
  return answer.slice(from, to + 1)
}

function parseDecisions(answer: string): z.infer<typeof answerShape> {
  const list = extractList(answer)
  let data: unknown
  try {
    data = JSON.parse(list)
  } catch {
    throw new Error(`the planner's list is not valid JSON: ${clipText(list, 200)}`)
  }
  const { success, data: decisions, error } = answerShape.safeParse(data)
  if (success) return decisions
  throw new Error(`the planner's list is invalid: ${error.issues.slice(0, 3).map(issueText).join('; ')}`)
}

/** Describes a validation issue, for example `entry 2: agent_id must be a string`. */
function issueText(issue: z.core.$ZodIssue): string {
  const [entry, ...path] = issue.path.map(String)
  const what = path.length === 0 ? 'it' : path.join('.')
  const wanted =
    issue.code === 'invalid_type' ? `must be ${EXPECTED[issue.expected] ?? issue.expected}` : 'must not be empty'
  return `entry ${Number(entry) + 1}: ${what} ${wanted}`
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a whole number',
  object: 'an object with agent_id and reason',
}

function buildPlannerPrompt(
  { at, state, goal }: PlanningContext,
  open: readonly AgentCandidate[],
  most: number | null,
  seed: string,
): string {
  const data = (label: string, text: string): string => fenceUntrusted(label, text || '(none)', nonceOf(seed, label))
  return loadPrompt('requests/planner.md', {
    time: iso(at),
    limit: most ?? open.length,
    state: data('STATE', clipText(state.trim(), MAX_STATE)),
    goal: data('GOAL', clipText(goal.trim(), MAX_GOAL)),
    agents: data('AGENTS', open.map((candidate) => describeAgent(candidate, at)).join('\n')),
  })
}

/** One agent as the model sees it: purpose, watched paths and last results. */
function describeAgent({ agent, recent }: AgentCandidate, at: number): string {
  const history = recent.slice(0, 2).map(({ status, failure_class, result, error, updated_at }) => {
    const minutes = Math.round((at - Date.parse(updated_at)) / 60_000)
    const summary = clipText(extractSummary(result ?? error ?? '').replaceAll(/\s+/g, ' '), 100)
    return `${status}${failure_class === null ? '' : ` [${failure_class}]`} ${minutes} min ago: ${summary}`
  })
  const watched = agent.watch
    .map((entry) => (typeof entry === 'string' ? entry : String(entry.path ?? entry.git ?? '')))
    .join(', ')
  return [
    `- ${agent.agent_id} (priority ${agent.priority}): ${history.join(' | ') || 'never run'}`,
    `  purpose: ${purposeOf(agent) || '(none given)'}`,
    ...(watched === '' ? [] : [`  watches: ${clipText(watched, MAX_PURPOSE)}`]),
  ].join('\n')
}

/** The agent's purpose from its metadata; without one, the start of its prompt without placeholders. */
function purposeOf({ metadata, prompt }: AgentCandidate['agent']): string {
  const summary = [metadata.purpose, metadata.description].find((text) => typeof text === 'string')
  return clipText((summary ?? prompt.replaceAll(/\{[A-Z_]+\}/g, ' ')).replaceAll(/\s+/g, ' ').trim(), MAX_PURPOSE)
}
