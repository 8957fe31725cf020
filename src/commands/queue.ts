/** Work into the queue, and what is in it. */

import { z } from 'zod'
import { DISPATCH_STATUSES } from '../domain/dispatch.ts'
import { parseInstant } from '../domain/duration.ts'
import { TirelessError } from '../domain/error.ts'
import { commitOne } from '../ports/store.ts'
import { type Context, command } from './command.ts'
import { dispatchShape } from './shapes.ts'

const DEFAULT_AGENT = 'default'

export const agentInput = z.string().min(1).default(DEFAULT_AGENT).describe('the agent that does it')

export const enqueue = command({
  name: 'enqueue',
  summary: 'put a task into the queue',
  place: 'home',
  input: z.object({
    agent: agentInput,
    prompt: z.string().trim().min(1).describe('what to do'),
    priority: z.int().default(0).describe('higher goes first'),
    key: z.string().min(1).optional().describe('the same key is taken once only'),
    at: z.string().optional().describe('not before this time: an ISO instant, or a duration from now such as 10m'),
  }),
  output: z.object({ dispatch_id: z.string(), session_id: z.string(), duplicate: z.boolean() }),
  run: (context, { agent, prompt, priority, key, at }) =>
    enqueueTask(context, { agent, prompt, priority, key, at: instantOf(context, at), source: 'cli' }),
})

export const queueList = command({
  name: 'queue list',
  summary: 'the dispatches, newest first',
  place: 'home',
  input: z.object({
    status: z.enum(DISPATCH_STATUSES).optional().describe('only those'),
    agent: z.string().optional().describe("only this agent's"),
    limit: z.int().positive().default(100).describe('at most so many'),
  }),
  output: z.object({ items: z.array(dispatchShape) }),
  run: async ({ store }, { status, agent, limit }) => ({
    items: [...(await store.dispatches({ status, agent_id: agent, limit }))],
  }),
})

export const queueShow = command({
  name: 'queue show',
  summary: 'one dispatch',
  place: 'home',
  positional: ['id'],
  input: z.object({ id: z.string().describe('dispatch id') }),
  output: dispatchShape,
  async run({ store }, { id }) {
    const dispatch = await store.dispatch(id)
    if (!dispatch)
      throw new TirelessError('not_found', { what: 'there is no such dispatch', got: id, fix: 'see: queue list' })
    return dispatch
  },
})

export interface Task {
  readonly agent: string
  readonly prompt: string
  readonly priority: number
  readonly source: string
  readonly key?: string | undefined
  readonly at?: number | undefined
  readonly workspace?: string | undefined
}

/** The one way into the queue: a dispatch on a new session, with its workspace. */
export async function enqueueTask(
  context: Context,
  task: Task,
): Promise<{ dispatch_id: string; session_id: string; duplicate: boolean; workspace: string; note?: string }> {
  refuseUnknownAgent(context, task.agent)
  const dispatch_id = context.ids.next()
  const session_id = `${task.agent}-${dispatch_id}`
  const { path: workspace, note } = await context.workspace(session_id, task.workspace)
  const [[enqueued]] = await commitOne(context.store, [
    {
      op: 'enqueue',
      now: context.clock.now(),
      dispatches: [
        {
          dispatch_id,
          kernel_id: context.kernelId,
          agent_id: task.agent,
          session_id,
          prompt: task.prompt,
          priority: task.priority,
          metadata: {},
          source: task.source,
          key: task.key,
          at: task.at,
          workspace,
        },
      ],
    },
  ])
  if (!enqueued) throw new TirelessError('internal', 'the store enqueued nothing')
  return { ...enqueued, workspace, ...(note === undefined ? {} : { note }) }
}

function refuseUnknownAgent({ agents }: Context, agent: string): void {
  if (!agents.includes(agent))
    throw new TirelessError('not_found', {
      what: 'there is no such agent',
      got: agent,
      expected: `one of ${agents.join(', ')}`,
      fix: 'add it under kernel.agents',
    })
}

function instantOf({ clock }: Context, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const instant = parseInstant(text, clock.now())
  if (instant === undefined)
    throw new TirelessError('usage', {
      what: '--at is no time',
      got: text,
      expected: 'an ISO instant such as 2030-01-31T09:00:00Z, or a duration such as 10m',
    })
  return instant
}
