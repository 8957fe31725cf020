/** The library in one call: a task in, its result out. */

import { type AppOptions, createApp } from './app.ts'
import type { Progress } from './commands/command.ts'
import type { DispatchStatus } from './domain/dispatch.ts'
import type { FailureClass } from './domain/stop.ts'
import type { Wait } from './domain/wait.ts'

export interface RunTaskOptions extends AppOptions {
  readonly agent?: string
  readonly workspace?: string
  readonly onProgress?: (progress: Progress) => void
}

export interface TaskResult {
  readonly dispatch_id: string
  readonly session_id: string
  readonly status: DispatchStatus
  readonly answer: string | null
  readonly error: string | null
  readonly failure_class: FailureClass | null
  readonly wait: Wait | null
  readonly workspace: string
}

/** Contract: resolves when the task is over or parked, whatever came of it; rejects when it could not even be queued. */
export async function runTask(task: string, options: RunTaskOptions = {}): Promise<TaskResult> {
  const { agent, workspace, onProgress, ...appOptions } = options
  const app = await createApp(appOptions)
  try {
    const input = { task, ...(agent === undefined ? {} : { agent }), ...(workspace === undefined ? {} : { workspace }) }
    return (await app.run('run', input, onProgress)) as TaskResult
  } finally {
    await app.close()
  }
}
