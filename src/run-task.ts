/** runTask: runs one task and returns its result. */

import { checkOptions } from './app/check-options.ts'
import { openHandle } from './run-task/start-task.ts'
import type { Task, TaskOptions, TaskResult } from './run-task/task.ts'
import type { FollowingHandle, TaskHandle } from './run-task/task-handle.ts'
import type { TaskWait } from './run-task/task-wait.ts'

export interface RunTaskOptions extends TaskOptions {
  /**
   * Called when the task needs an answer from outside to go on. If it has not answered when it resolves, `runTask`
   * returns with the status `waiting`.
   */
  readonly onWait?: (wait: TaskWait, handle: TaskHandle<unknown>) => void | Promise<void>
}

/**
 * Contract: resolves when the task has ended, whatever the result, or needs an answer from outside: an approval, an
 * answer, an event. Goes on through waits that end by themselves. Rejects if the task could not be queued. Several
 * calls in one home may run at once if all have the same options.
 */
export async function runTask<A = string>(
  task: string | Task<A>,
  options: RunTaskOptions = {},
): Promise<TaskResult<A>> {
  checkOptions(options)
  const { onWait, ...rest } = options
  const handle = await openHandle(task, rest)
  try {
    for (;;) {
      const wait = await handle.waiting()
      if (wait && onWait && (await isAnswered(handle, () => onWait(wait, handle)))) continue
      return await (wait ? handle.readResult() : handle.readEnding())
    }
  } finally {
    await handle.close()
  }
}

/** Whether the task goes on, or waits for something else, after `work`. */
async function isAnswered(handle: FollowingHandle<unknown>, work: () => void | Promise<void>): Promise<boolean> {
  const before = await handle.progressMark()
  await work()
  return before !== (await handle.progressMark())
}
