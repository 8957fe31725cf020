/** startTask and attachTask: handles on tasks. */

import { checkOptions } from '../app/check-options.ts'
import { type HeldApp, holdApp } from '../app/share-app.ts'
import { ignoreProgress } from '../commands/lib/progress.ts'
import { taskStart } from '../commands/lib/task-commands.ts'
import { validateAndRun } from '../commands/lib/validate-and-run.ts'
import { readTask, type Task, type TaskOptions } from './task.ts'
import { FollowingHandle, readDispatch, type TaskHandle } from './task-handle.ts'
import { answerSchemaText, type WantedResult } from './task-result.ts'

/**
 * Contract: the task is on disk when it resolves, and works on until it has ended or the handle is closed. With a `key`
 * that was used before, the handle is that of the first task, whatever became of it.
 */
export const startTask = <A = string>(task: string | Task<A>, options: TaskOptions = {}): Promise<TaskHandle<A>> =>
  openHandle(task, options)

/** What a program wants of a task that was started before. */
export interface AttachOptions<A = string> extends Omit<TaskOptions, 'key' | 'agent' | 'workspace'>, WantedResult<A> {}

/** Contract: a handle on a task of this home by its id; throws `not_found` if there is none. */
export async function attachTask<A = string>(id: string, options: AttachOptions<A> = {}): Promise<TaskHandle<A>> {
  checkOptions(options)
  const { onProgress: tell = ignoreProgress, answer, success_criteria, ...appOptions } = options
  const wanted = readTask({ objective: '', ...(answer && { answer }), ...(success_criteria && { success_criteria }) })
  return hold(appOptions, async (held) => {
    const { dispatch_id, session_id } = await readDispatch(held.app.context.store, id)
    return new FollowingHandle({ held, options: appOptions, dispatch_id, session_id, wanted, tell })
  })
}

/** As `startTask`, for this library's own use. */
export async function openHandle<A>(task: string | Task<A>, options: TaskOptions): Promise<FollowingHandle<A>> {
  checkOptions(options)
  const wanted = readTask(task)
  const { objective, success_criteria: _, answer, ...overrides } = wanted
  const answer_schema = answerSchemaText(answer)
  const { agent, workspace, key, onProgress: tell = ignoreProgress, ...appOptions } = options
  return hold(appOptions, async (held) => {
    const input = { ...overrides, task: objective, agent, workspace, key, ...(answer_schema && { answer_schema }) }
    const started = await validateAndRun(taskStart, held.app.context, input, tell)
    const { dispatch_id, session_id } = started as { readonly dispatch_id: string; readonly session_id: string }
    return new FollowingHandle({ held, options: appOptions, dispatch_id, session_id, wanted, tell })
  })
}

/** The handle holds the app on; without a handle the app is released. */
async function hold<T>(options: TaskOptions, open: (held: HeldApp) => Promise<T>): Promise<T> {
  const held = await holdApp(options)
  try {
    return await open(held)
  } catch (thrown) {
    await held.release()
    throw thrown
  }
}
