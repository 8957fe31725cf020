/** Runs one task and waits for its end. */

import { z } from 'zod'
import { type Dispatch, isTerminal } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import { recordsOfRun } from '../domain/journal-record.ts'
import type { PeopleText } from '../domain/language.ts'
import { shortId } from '../domain/short-id.ts'
import { STOP_REASONS } from '../domain/stop-reason.ts'
import { titleOfRun } from '../domain/title.ts'
import { RETRY_SOON_MS } from '../kernel/queue/drain.ts'
import { isOfflineModel } from '../ports/model.ts'
import { traceFromRecords } from '../trace/trace.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { howMuchNotUnderstood, notUnderstoodShape } from './lib/not-understood.ts'
import { approvalSchema, dispatchSchema } from './lib/output-schemas.ts'
import { ignoreProgress, type Progress } from './lib/progress.ts'
import { overridesToMetadata, taskOverrides } from './lib/task-overrides.ts'
import { cannotUndo, tellUncovered } from './lib/undo-coverage.ts'
import { type RunsHereNeeds, runsHere } from './lib/wait-for-status.ts'
import { filesWrittenBy } from './lib/written-files.ts'
import { agentInput, enqueueTask, workspaceInput } from './queue.ts'

/** Priority of the task: above queued tasks, because a user waits for its result. */
export const FOREGROUND_PRIORITY = 100
/** Maximum number of open approvals to print. */
const MAX_APPROVALS = 100

/** What a command needs to follow a run to its end. */
export const FOLLOW_NEEDS = [
  ...(['clock', 'drain', 'draining', 'isQueueWorked', 'kernel', 'listen', 'notifier', 'role'] as const),
  ...(['sandboxNotices', 'signals', 'snapshots', 'startNotices', 'store', 'wakeSignal'] as const),
] as const

/** What a command needs to start a run. */
export const START_NEEDS = [
  ...(['agents', 'clock', 'ids', 'kernelId', 'models', 'prepareWorkspace', 'sandboxNotices', 'snapshots'] as const),
  ...(['startNotices', 'store'] as const),
] as const

export const runInput = z.object({
  task: z.string().trim().min(1).describe('what to do'),
  agent: agentInput,
  workspace: workspaceInput,
  ...taskOverrides,
})

export const runOutput = z.object({
  ...dispatchSchema.pick({
    dispatch_id: true,
    session_id: true,
    status: true,
    wait: true,
    error: true,
    failure_class: true,
  }).shape,
  answer: z.string().nullable(),
  not_understood: notUnderstoodShape,
  workspace: z.string(),
  stop_reason: z.enum(STOP_REASONS).nullable(),
  steps: z.number(),
  issues: z.array(z.object({ code: z.string(), message: z.string() })),
  approvals: z.array(approvalSchema).describe('the calls that wait for your approval'),
  files: z.array(z.string()).describe('files that the task created or changed'),
  cannot_undo: z.array(z.string()).describe('why the files of the task cannot be undone, or not all of them'),
})

export const run = defineCommand({
  name: 'run',
  summary: 'run one task now and print the answer',
  example: 'run "summarize the README in three sentences"',
  runsIn: 'any_process',
  needs: [...FOLLOW_NEEDS, ...START_NEEDS],
  positional: ['task'],
  input: runInput,
  output: runOutput,
  async run(context, input, tell) {
    const { dispatch_id, session_id, workspace } = await startRun(context, input, { source: 'run' }, tell)
    return followRun(context, { dispatch_id, session_id, workspace }, tell)
  },
  exitCode: ({ status }) => (status === 'done' ? 0 : isTerminal(status) ? 1 : 3),
})

/** Contract: queues the task ahead of others; a source and key that were used before give the task of then. */
export async function startRun(
  context: Needs<(typeof START_NEEDS)[number]>,
  { task, agent, workspace: folder, ...wanted }: z.output<typeof runInput>,
  { source, key }: { readonly source: string; readonly key?: string | undefined },
  tell: (progress: Progress) => void,
) {
  await tellNotices(context, tell)
  const { dispatch_id, session_id, workspace, note, duplicate } = await enqueueTask(context, {
    ...{ agent, prompt: task, priority: FOREGROUND_PRIORITY, source, key, workspace: folder },
    metadata: overridesToMetadata({
      ...wanted,
      behaviour: wanted.behaviour ?? (await defaultBehaviour(context, { ...wanted, agent })),
    }),
  })
  tell({ kind: 'note', ...(note === undefined ? workingIn(workspace) : { text: note }) })
  await tellUncovered(context, workspace, tell)
  await tellFolderInUse(context, { dispatch_id, workspace }, tell)
  return { dispatch_id, session_id, workspace, duplicate }
}

const workingIn = (folder: string): PeopleText => ({ text: `Working in ${folder}`, zh: `工作目录：${folder}` })

/** A configured model plans, works and checks; the offline model cannot plan. */
async function defaultBehaviour(
  { models }: Needs<'models'>,
  { model, agent, answer_schema }: Partial<z.output<typeof runInput>>,
): Promise<string | undefined> {
  // A chain of behaviours ends with a report, not with the answer of one of them.
  if (answer_schema !== undefined || (await models.choice()).isSupplied) return undefined
  const [first] = await models.fallbackChain({ model, agent })
  return first === undefined || isOfflineModel(first) ? undefined : 'plan'
}

const MAX_RUNNING = 200

/** One run works in a folder at a time; the owner is told that a task waits for another one. */
async function tellFolderInUse(
  { store }: Needs<'store'>,
  { dispatch_id, workspace }: { readonly dispatch_id: string; readonly workspace: string },
  tell: (progress: Progress) => void,
): Promise<void> {
  for (const other of await store.dispatches({ status: 'running', limit: MAX_RUNNING })) {
    if (other.dispatch_id === dispatch_id || (await store.session(other.session_id))?.workspace !== workspace) continue
    const [id, title] = [shortId(other.dispatch_id), titleOfRun(other.prompt, other.metadata.behaviour)]
    tell({
      kind: 'note',
      text: `Waits for run ${id}, which works in the same folder: ${title}`,
      zh: `在等任务 ${id}，它正在同一个目录里工作：${title}`,
    })
  }
}

export async function tellNotices(
  context: Needs<'sandboxNotices' | 'startNotices'>,
  tell: (progress: Progress) => void,
): Promise<void> {
  for (const notice of [...(await context.sandboxNotices()), ...(await context.startNotices())])
    tell({ kind: 'note', ...notice })
}

/** Contract: follows a dispatch until it ends or waits for long; returns what came of it, as `run` prints it. */
export async function followRun(
  context: Needs<(typeof FOLLOW_NEEDS)[number]>,
  at: { readonly dispatch_id: string; readonly session_id: string; readonly workspace: string },
  tell: (progress: Progress) => void,
) {
  await watchDispatch(context, at.dispatch_id, tell)
  await deliver(context, tell)
  return describeRun(context, at, tell)
}

/** What has come of a run so far. */
export async function describeRun(
  context: Needs<'snapshots' | 'store'>,
  at: { readonly dispatch_id: string; readonly session_id: string; readonly workspace: string },
  tell: (progress: Progress) => void,
) {
  const ending = await readRunEnding(context, at.dispatch_id, at.session_id)
  const open = { session_id: at.session_id, status: 'open', limit: MAX_APPROVALS } as const
  const approvals = [...(await context.store.approvals(open))]
  const files = [...(await filesWrittenBy(context, at.dispatch_id))]
  for (const file of files) tell({ kind: 'note', text: `Wrote ${file}`, zh: `已写入 ${file}` })
  const trace = `tireless trace show ${at.dispatch_id}`
  tell({ kind: 'note', text: `Trace: ${trace}`, zh: `轨迹：${trace}` })
  const limits = await cannotUndo(context, at)
  for (const limit of limits) tell({ kind: 'note', ...limit })
  return { ...at, ...ending, approvals, files, cannot_undo: limits.map(({ text }) => text) }
}

/** Delivers the outbox if no kernel is running to do it, in this process or another one on the same store. */
export async function deliver(
  { kernel, notifier, signals, listen }: Needs<'kernel' | 'notifier' | 'signals' | 'listen'>,
  tell: (progress: Progress) => void = ignoreProgress,
): Promise<void> {
  if (kernel.isRunning()) return
  await kernel.asLeader(async () => {
    const stopListening = listen((progress) => {
      if (progress.kind === 'note') tell(progress)
    })
    await notifier.deliver(signals.drain).finally(stopListening)
  })
}

/** Status and result of a run, from its dispatch and journal. */
export async function readRunEnding({ store }: Needs<'store'>, run_id: string, session_id: string) {
  const dispatch = await store.dispatch(run_id)
  if (!dispatch) throw new TirelessError('not_found', `dispatch ${run_id} no longer exists`)
  const { status, wait, error, failure_class, result: answer } = dispatch
  const records = recordsOfRun(await store.journal(session_id), run_id)
  const { stop_reason, step_count: steps, issues } = traceFromRecords({ run_id, session_id }, records).manifest
  const not_understood = status === 'done' ? howMuchNotUnderstood(records, answer ?? '') : null
  return { status, wait, error, failure_class, answer, not_understood, stop_reason, steps, issues: [...issues] }
}

/** Follows a dispatch until it ends, or until it waits for something that may take long. */
export async function watchDispatch(
  context: Needs<'clock' | 'drain' | 'listen' | 'signals' | 'store' | 'wakeSignal'> & RunsHereNeeds,
  dispatchId: string,
  tell: (progress: Progress) => void,
  isOver: (dispatch: Dispatch) => boolean = () => false,
): Promise<void> {
  const tellOwn = (progress: Progress): void => {
    if (runIdOf(progress) === dispatchId) tell(progress)
  }
  const stopListening = context.listen(tellOwn, { everywhere: true })
  try {
    for (;;) {
      const since = context.wakeSignal.ringCount()
      // Checked every time, because a drain of the whole queue may have ended meanwhile.
      const drainsHere = await runsHere(context)
      if (drainsHere) await context.drain({ untilIdle: true, only: [dispatchId] })
      const dispatch = await context.store.dispatch(dispatchId)
      if (!dispatch) throw new TirelessError('not_found', `dispatch ${dispatchId} no longer exists`)
      if (
        drainsHere ||
        context.signals.drain.aborted ||
        isTerminal(dispatch.status) ||
        isOver(dispatch) ||
        parkedForLong(context, dispatch)
      )
        return
      await context.wakeSignal.wait(since, context.signals.drain)
    }
  } finally {
    stopListening()
  }
}

function parkedForLong({ clock }: Needs<'clock'>, { status, wait }: Dispatch): boolean {
  if (status !== 'waiting' || !wait) return false
  return wait.kind !== 'retry' || wait.until - clock.now() > RETRY_SOON_MS
}

function runIdOf(progress: Progress): string | undefined {
  if (progress.kind === 'event') return progress.event.run_id
  return progress.kind === 'delta' ? progress.delta.run_id : undefined
}
