/** startTask and attachTask: handles on tasks. */

import { checkOptions } from '../app/check-options.ts'
import { type HeldApp, holdApp } from '../app/share-app.ts'
import { ignoreProgress } from '../commands/lib/progress.ts'
import { taskStart } from '../commands/lib/task-commands.ts'
import { validateAndRun } from '../commands/lib/validate-and-run.ts'
import { readTask, type Task, type TaskOptions } from './task.ts'
import { FollowingHandle, readDispatch, type TaskHandle } from './task-handle.ts'

/**
 * Contract: the task is on disk when it resolves, and works on until it has ended or the handle is closed. With a `key`
 * that was used before, the handle is that of the first task, whatever became of it.
 */
export const startTask = (task: string | Task, options: TaskOptions = {}): Promise<TaskHandle> =>
  openHandle(task, options)

/** Contract: a handle on a task of this home by its id; throws `not_found` if there is none. */
export async function attachTask(
  id: string,
  options: Omit<TaskOptions, 'key' | 'agent' | 'workspace'> = {},
): Promise<TaskHandle> {
  checkOptions(options)
  const { onProgress: tell = ignoreProgress, ...appOptions } = options
  return hold(appOptions, async (held) => {
    const { dispatch_id, session_id } = await readDispatch(held.app.context.store, id)
    return new FollowingHandle({ held, options: appOptions, dispatch_id, session_id, criteria: undefined, tell })
  })
}

/** As `startTask`, for this library's own use. */
export async function openHandle(task: string | Task, options: TaskOptions): Promise<FollowingHandle> {
  checkOptions(options)
  const { objective, success_criteria: criteria, ...overrides } = readTask(task)
  const { agent, workspace, key, onProgress: tell = ignoreProgress, ...appOptions } = options
  return hold(appOptions, async (held) => {
    const input = { task: objective, agent, workspace, key, ...overrides }
    const started = await validateAndRun(taskStart, held.app.context, input, tell)
    const { dispatch_id, session_id } = started as { readonly dispatch_id: string; readonly session_id: string }
    return new FollowingHandle({ held, options: appOptions, dispatch_id, session_id, criteria, tell })
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
