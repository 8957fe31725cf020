/** Adds work to the queue; lists, cancels, retries and pauses dispatches. */

import { z } from 'zod'
import { DEFAULT_AGENT } from '../domain/agent.ts'
import { CANCEL_MODES, DISPATCH_STATUSES, type Dispatch, type DispatchStatus, isTerminal } from '../domain/dispatch.ts'
import { parseInstant } from '../domain/duration.ts'
import { TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import { UNTRUSTED_LABEL } from '../domain/label.ts'
import { EXPECTED_INSTANT } from '../domain/limits.ts'
import { tellUnstarted } from '../kernel/conversation/tell-unstarted.ts'
import { commitOne, type Op, type Store } from '../ports/store.ts'
import { filesAndChildren } from './lib/children.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { noSuchAgent } from './lib/no-such-agent.ts'
import { dispatchDetailsSchema } from './lib/output-schemas.ts'
import { overridesToMetadata, taskOverrides } from './lib/task-overrides.ts'
import { cannotUndo } from './lib/undo-coverage.ts'
import { findUndone, undoneByShape, withTitle } from './lib/undone-runs.ts'
import { waitForStatus } from './lib/wait-for-status.ts'

export const agentInput = z.string().min(1).default(DEFAULT_AGENT).describe('the agent to run').meta({ idOf: 'agent' })

export const workspaceInput = z
  .string()
  .optional()
  .describe('work in this folder (empty or clean git: in place; git with changes: in a worktree)')
  .meta({ path: true })

export const enqueue = defineCommand({
  name: 'enqueue',
  summary: 'add a task to the queue',
  example: 'enqueue "summarize the README" --at 10m',
  runsIn: 'any_process',
  needs: ['agents', 'clock', 'ids', 'isQueueWorked', 'kernelId', 'prepareWorkspace', 'store'],
  positional: ['task'],
  input: z.object({
    task: z.string().trim().min(1).optional().describe('what to do'),
    prompt: z.string().trim().min(1).optional().describe('what to do, as an option'),
    agent: agentInput,
    workspace: workspaceInput,
    priority: z.int().default(0).describe('higher runs first'),
    key: z.string().min(1).optional().describe('a task with a key that was used before is not added again'),
    at: z.string().optional().describe('earliest start: an ISO instant, or a duration from now such as 10m'),
    parent: z
      .string()
      .min(1)
      .optional()
      .describe('parent dispatch; cancelling or pausing it also affects this one')
      .meta({ idOf: 'dispatch' }),
    by: z.enum(['owner', 'model']).default('owner').describe('who wrote the prompt; only the owner’s is trusted'),
    ...taskOverrides,
  }),
  output: z.object({
    dispatch_id: z.string(),
    session_id: z.string(),
    duplicate: z.boolean(),
    workspace: z.string().describe('the folder in which the task works'),
    kernel_running: z.boolean().describe('false: the task waits until a kernel is started'),
  }),
  run: async (context, { task, prompt, agent, workspace, priority, key, at, parent, by, ...wanted }) => ({
    ...(await enqueueTask(context, {
      ...{ agent, prompt: requireTask(task, prompt), workspace, priority, key, parent },
      at: parseAt(context, at),
      source: by === 'owner' ? 'cli' : 'model',
      metadata: {
        ...overridesToMetadata(wanted),
        ...(by === 'owner' ? {} : { label: { ...UNTRUSTED_LABEL }, words: 'model' }),
      },
    })),
    kernel_running: await context.isQueueWorked(),
  }),
})

/** The task, from either of its two inputs. Contract: throws `usage` if none or both are given. */
function requireTask(task: string | undefined, prompt: string | undefined): string {
  const [text, second] = [task, prompt].filter((given) => given !== undefined)
  if (text !== undefined && second === undefined) return text
  throw new TirelessError('usage', {
    what: text === undefined ? 'the task is missing' : 'the task is given twice',
    expected: 'what to do, as `task` or as `prompt`, once',
    fix: 'write, for example: tireless enqueue "summarize the README"',
  })
}

export const queueShow = defineCommand({
  name: 'queue show',
  summary: 'show one dispatch',
  example: 'queue show 1a2b3c',
  runsIn: 'any_process',
  needs: ['snapshots', 'store'],
  positional: ['id'],
  input: z.object({ id: z.string().describe('dispatch id').meta({ idOf: 'dispatch' }) }),
  output: dispatchDetailsSchema.extend({
    undone_by: undoneByShape,
    cannot_undo: z.array(z.string()).describe('why its files cannot be undone, or not all of them'),
  }),
  async run(context, { id }) {
    const dispatch = await findDispatch(context.store, id)
    const workspace = (await context.store.session(dispatch.session_id))?.workspace ?? null
    const shown = withTitle(await findUndone(context))(dispatch)
    const cannot_undo = (await cannotUndo(context, dispatch)).map(({ text }) => text)
    return { ...shown, workspace, ...(await filesAndChildren(context, id)), cannot_undo }
  },
})

async function findDispatch(store: Store, id: string, kind = 'dispatch'): Promise<Dispatch> {
  const dispatch = await store.dispatch(id)
  if (dispatch) return dispatch
  throw new TirelessError('not_found', { what: `no such ${kind}`, got: id, fix: 'run tireless queue list' })
}

const changedShape = z.object({
  items: z.array(
    z.object({ dispatch_id: z.string(), was: z.enum(DISPATCH_STATUSES), status: z.enum(DISPATCH_STATUSES) }),
  ),
})

export const queueCancel = defineCommand({
  name: 'queue cancel',
  summary: 'cancel a dispatch and its children',
  example: 'queue cancel 1a2b3c --how after_step',
  runsIn: 'any_process',
  needs: ['clock', 'drain', 'draining', 'isQueueWorked', 'role', 'signals', 'store', 'tellRun', 'wakeSignal'],
  positional: ['id'],
  input: z.object({
    id: z.string().describe('dispatch id').meta({ idOf: 'dispatch' }),
    how: z.enum(CANCEL_MODES).default('immediate').describe('at once, or after the current step'),
  }),
  output: changedShape,
  async run(context, { id, how }) {
    const { clock, store } = context
    await findDispatch(store, id)
    const [members] = await commitOne(store, [{ op: 'cancel', dispatch_id: id, how, now: clock.now() }])
    for (const { dispatch_id } of members) context.tellRun(dispatch_id, how)
    for (const { dispatch_id, status } of members) if (status === 'pending') await tellUnstarted(context, dispatch_id)
    for (const { dispatch_id } of members) await waitForStatus(context, dispatch_id, isTerminal)
    return { items: await statusChanges(context, members) }
  },
})

export const queueRetry = defineCommand({
  name: 'queue retry',
  summary: 'retry a dispatch that failed or was set aside',
  example: 'queue retry 1a2b3c',
  runsIn: 'any_process',
  needs: ['clock', 'store'],
  positional: ['id'],
  input: z.object({ id: z.string().describe('dispatch id').meta({ idOf: 'dispatch' }) }),
  output: changedShape,
  async run(context, { id }) {
    const { clock, store } = context
    const { status: was } = await findDispatch(store, id)
    await commitOne(store, [{ op: 'retry', dispatch_id: id, now: clock.now() }])
    return { items: await statusChanges(context, [{ dispatch_id: id, status: was }]) }
  },
})

const pauseHow = z.enum(CANCEL_MODES).default('after_step').describe('at once: the step is repeated later')

const pauseCommand = (name: 'queue pause' | 'queue resume', summary: string, paused: boolean) =>
  defineCommand({
    name,
    summary,
    example: `${name} 1a2b3c`,
    runsIn: 'any_process',
    needs: ['clock', 'drain', 'draining', 'isQueueWorked', 'role', 'signals', 'store', 'tellRun', 'wakeSignal'],
    positional: ['id'],
    input: z.object({
      id: z.string().describe('dispatch id').meta({ idOf: 'dispatch' }),
      ...(paused ? { how: pauseHow } : {}),
    }),
    output: changedShape,
    async run(context, { id, how }) {
      const { clock, store } = context
      await findDispatch(store, id)
      const [members] = await commitOne(store, [{ op: 'pause', dispatch_id: id, paused, now: clock.now() }])
      const notice = how === 'immediate' ? 'interrupt' : 'pause'
      if (paused) for (const { dispatch_id } of members) context.tellRun(dispatch_id, notice)
      // The pause is reported when it has taken effect: a running dispatch finishes or leaves its step first.
      if (paused)
        for (const { dispatch_id } of members) await waitForStatus(context, dispatch_id, (now) => now !== 'running')
      return { items: await statusChanges(context, members) }
    },
  })

export const queuePause = pauseCommand('queue pause', 'pause a dispatch and its children until you resume it', true)
export const queueResume = pauseCommand('queue resume', 'resume a paused dispatch and its children', false)

async function statusChanges(
  { store }: Needs<'store'>,
  members: readonly { readonly dispatch_id: string; readonly status: DispatchStatus }[],
): Promise<{ dispatch_id: string; was: DispatchStatus; status: DispatchStatus }[]> {
  return Promise.all(
    members.map(async ({ dispatch_id, status: was }) => {
      const status = (await store.dispatch(dispatch_id))?.status ?? was
      return { dispatch_id, was, status }
    }),
  )
}

interface NewTask {
  readonly agent: string
  readonly prompt: string
  readonly priority: number
  readonly source: string
  readonly key?: string | undefined
  readonly at?: number | undefined
  readonly workspace?: string | undefined
  readonly parent?: string | undefined
  readonly metadata: Readonly<Record<string, Json>>
  /** Contract: operations that are committed with it. */
  also?(session_id: string): Promise<readonly Op[]>
}

/** Adds a task to the queue: a dispatch in a new session, with a workspace. */
export async function enqueueTask(
  context: Needs<'agents' | 'clock' | 'ids' | 'kernelId' | 'prepareWorkspace' | 'store'>,
  task: NewTask,
): Promise<{ dispatch_id: string; session_id: string; duplicate: boolean; workspace: string; note?: string }> {
  refuseUnknownAgent(context, task.agent)
  if (task.parent !== undefined) await findDispatch(context.store, task.parent, 'parent dispatch')
  const dispatch_id = context.ids.next()
  const session_id = `${task.agent}-${dispatch_id}`
  const { path: workspace, note } = await context.prepareWorkspace(session_id, task.workspace ?? { agent: task.agent })
  const also = (await task.also?.(session_id)) ?? []
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
          parent_id: task.parent,
          metadata: task.metadata,
          source: task.source,
          key: task.key,
          at: task.at,
          workspace,
        },
      ],
    },
    ...also,
  ])
  if (!enqueued) throw new TirelessError('internal', 'the store returned no dispatch')
  const earlier = enqueued.duplicate ? await context.store.session(enqueued.session_id) : undefined
  return { ...enqueued, workspace: earlier?.workspace ?? workspace, ...(note === undefined ? {} : { note }) }
}

export function refuseUnknownAgent(context: Needs<'agents'>, agent: string): void {
  const agents = context.agents()
  if (!agents.includes(agent)) throw noSuchAgent(agent, agents)
}

function parseAt({ clock }: Needs<'clock'>, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const instant = parseInstant(text, clock.now())
  if (instant === undefined)
    throw new TirelessError('usage', {
      what: '--at is not a time',
      got: text,
      expected: EXPECTED_INSTANT,
    })
  return instant
}
