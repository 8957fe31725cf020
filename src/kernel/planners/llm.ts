/**
 * The model as planner: asked through the one queue, as a dispatch of its own, so that its money, its journal and its crash are like
 * everybody's. What it answers is checked: known agents, each once, so many at most. What cannot be read is an error, never an empty plan.
 * Must not know: which model that is.
 */

import { z } from 'zod'
import { asTirelessError } from '../../domain/error.ts'
import type { Note } from '../../domain/note.ts'
import { clipped } from '../../domain/summary.ts'
import { iso } from '../../ports/clock.ts'
import { commitOne } from '../../ports/store.ts'
import { nonceOf, quarantined } from '../../prompt/data-fence.ts'
import type { PlannerSettings, Surroundings } from '../settings.ts'
import { summaryOf } from '../summary.ts'
import { type Candidate, failed, idle, type Occasion, type Plan, type Planned, type Planner, plan } from './planner.ts'
import { backsOff, motionNote, whyBackingOff } from './progress.ts'
import { available, whyNobody } from './static.ts'

export const PLANNER_AGENT = 'planner'

/** Before all others: everybody waits for it. */
const PRIORITY = 1_000_000
const MOST_GOAL = 3000
const MOST_STATE = 6000
const MOST_PURPOSE = 200

export function llmPlanner(around: Surroundings): Planner {
  return {
    async plan(occasion, signal): Promise<Plan> {
      const free = available(occasion)
      const notes = free.flatMap((candidate) => motionNote(candidate, !candidate.due) ?? [])
      const open = free.filter((candidate) => !backsOff(candidate, occasion))
      if (open.length === 0) return idle(free.length === 0 ? whyNobody(occasion) : whyBackingOff(free, occasion), notes)
      const { planner } = around.settings()
      try {
        const answer = await ask(around, planner, occasion, open, signal)
        const { planned, refused } = chosen(answer, open, planner.max_dispatches)
        const heard = [...notes, ...refused]
        return planned.length === 0 ? idle('the planner sees nothing to do', heard) : plan(planned, heard)
      } catch (thrown) {
        return failed(asTirelessError(thrown).message, notes)
      }
    },
  }
}

async function ask(
  { store, clock, ids, settings, workspace, work }: Surroundings,
  { model, timeout, max_dispatches }: PlannerSettings,
  occasion: Occasion,
  open: readonly Candidate[],
  signal: AbortSignal,
): Promise<string> {
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
          prompt: promptOf(occasion, open, max_dispatches, dispatch_id),
          priority: PRIORITY,
          metadata: {
            behaviour: PLANNER_AGENT,
            budget: { steps: 1, ms: timeout },
            ...(model === null ? {} : { model }),
          },
          source: 'planner',
          key: occasion.cycle_id,
          workspace: await workspace(session_id),
        },
      ],
    },
  ])
  await work([dispatch_id], signal)
  const made = await store.dispatch(dispatch_id)
  if (made?.status === 'done' && made.result !== null) return made.result
  throw new Error(made?.error ?? `the planner did not answer (${made?.status})`)
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

/** Contract: throws where the answer is none. */
export function chosen(
  answer: string,
  open: readonly Candidate[],
  most: number | null,
): { readonly planned: readonly Planned[]; readonly refused: readonly Note[] } {
  const decisions = decisionsIn(answer)
  const known = new Set(open.map(({ agent }) => agent.agent_id))
  const wanted = decisions.filter(({ dispatch }) => dispatch)
  const strangers = [...new Set(wanted.map(({ agent_id }) => agent_id).filter((id) => !known.has(id)))]
  const once = new Map(wanted.toReversed().map((one) => [one.agent_id, one] as const))
  const planned = wanted
    .filter((one) => known.has(one.agent_id) && once.get(one.agent_id) === one)
    .map(({ agent_id, reason, priority, prompt }) => ({
      agent_id,
      reason,
      priority,
      prompt,
      by_model: prompt !== undefined,
    }))
  const going = planned.slice(0, most ?? planned.length)
  const left = planned.slice(going.length).map(({ agent_id }) => agent_id)
  return {
    planned: going,
    refused: [
      ...strangers.map((id) => ({
        about: `planner named ${clipped(id, 64)}`,
        text: `the planner named ${JSON.stringify(id)}, who cannot be dispatched now`,
        zh: `规划器点了 ${JSON.stringify(id)}，但它现在不能派发`,
      })),
      ...(left.length === 0 ? [] : [tooMany(left, planned.length, going.length)]),
    ],
  }
}

const tooMany = (left: readonly string[], named: number, most: number): Note => ({
  about: 'planner named too many',
  text: `the planner named ${named} agents, and at most ${most} may go (kernel.planner.max_dispatches): ${left.join(', ')} stay behind`,
  zh: `规划器点了 ${named} 个，最多派发 ${most} 个（kernel.planner.max_dispatches）：${left.join('、')} 未派发`,
})

/** A model that thinks aloud, or fences its answer, has answered all the same. */
function listIn(answer: string): string {
  const from = answer.indexOf('[')
  const to = answer.lastIndexOf(']')
  if (from < 0 || to < from) throw new Error(`the planner answered no list: ${clipped(answer, 200)}`)
  return answer.slice(from, to + 1)
}

function decisionsIn(answer: string): z.infer<typeof answerShape> {
  const list = listIn(answer)
  let data: unknown
  try {
    data = JSON.parse(list)
  } catch {
    throw new Error(`the planner's list is not valid JSON: ${clipped(list, 200)}`)
  }
  const { success, data: decisions, error } = answerShape.safeParse(data)
  if (success) return decisions
  throw new Error(`the planner's list cannot be used: ${error.issues.slice(0, 3).map(issueText).join('; ')}`)
}

/** In words: `entry 2: agent_id must be a string`. */
function issueText(issue: z.core.$ZodIssue): string {
  const [entry, ...path] = issue.path.map(String)
  const what = path.length === 0 ? 'it' : path.join('.')
  const wanted =
    issue.code === 'invalid_type' ? `must be ${ARTICLE[issue.expected] ?? issue.expected}` : 'must not be empty'
  return `entry ${Number(entry) + 1}: ${what} ${wanted}`
}

const ARTICLE: Readonly<Record<string, string>> = {
  string: 'a text',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a whole number',
  object: 'an object with agent_id and reason',
}

function promptOf(
  { at, state, goal }: Occasion,
  open: readonly Candidate[],
  most: number | null,
  seed: string,
): string {
  const data = (label: string, text: string): string => quarantined(label, text || '(none)', nonceOf(seed, label))
  return [
    `Time: ${iso(at)}`,
    `At most ${most ?? open.length} agents.`,
    data('STATE', clipped(state.trim(), MOST_STATE)),
    data('GOAL', clipped(goal.trim(), MOST_GOAL)),
    data('AGENTS', open.map((candidate) => line(candidate, at)).join('\n')),
  ].join('\n\n')
}

/** What it is for, what it watches and what came of it last: the planner has nothing else to choose by. */
function line({ agent, recent }: Candidate, at: number): string {
  const told = recent.slice(0, 2).map(({ status, failure_class, result, error, updated_at }) => {
    const minutes = Math.round((at - Date.parse(updated_at)) / 60_000)
    const said = clipped(summaryOf(result ?? error ?? '').replaceAll(/\s+/g, ' '), 100)
    return `${status}${failure_class === null ? '' : ` [${failure_class}]`} ${minutes} min ago: ${said}`
  })
  const watched = agent.watch
    .map((one) => (typeof one === 'string' ? one : String(one.path ?? one.git ?? '')))
    .join(', ')
  return [
    `- ${agent.agent_id} (priority ${agent.priority}): ${told.join(' | ') || 'never run'}`,
    `  purpose: ${purposeOf(agent) || '(none given)'}`,
    ...(watched === '' ? [] : [`  watches: ${clipped(watched, MOST_PURPOSE)}`]),
  ].join('\n')
}

/** What its owner says it is for, else how its prompt begins, without what is filled in. */
function purposeOf({ metadata, prompt }: Candidate['agent']): string {
  const said = [metadata.purpose, metadata.description].find((text) => typeof text === 'string')
  return clipped((said ?? prompt.replaceAll(/\{[A-Z_]+\}/g, ' ')).replaceAll(/\s+/g, ' ').trim(), MOST_PURPOSE)
}
