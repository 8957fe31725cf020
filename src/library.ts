/** The library in one call: a task in, its result out. */

import { checkOptions } from './app/check-options.ts'
import { useApp } from './app/share-app.ts'
import type { AppOptions } from './app.ts'
import type { Progress } from './commands/command.ts'
import type { Issue } from './domain/decision.ts'
import type { DispatchStatus } from './domain/dispatch.ts'
import { asTirelessError, TirelessError } from './domain/error.ts'
import type { FailureClass, StopReason } from './domain/stop.ts'
import type { Resource } from './domain/task.ts'
import type { Wait } from './domain/wait.ts'

export interface Task {
  readonly objective: string
  readonly behaviour?: string
  readonly model?: string
  readonly parser?: string
  readonly memory?: string
  readonly env?: string
  readonly max_steps?: number | null
  readonly max_seconds?: number | null
  readonly max_tokens?: number | null
  readonly max_usd?: number | null
  /** What must be there before it begins. */
  readonly resources?: readonly Resource[]
  /** Looked at when the run is over, whatever it says of itself. */
  readonly success_criteria?: readonly Criterion[]
}

export interface Criterion {
  readonly name: string
  met(ending: Ending): boolean | Promise<boolean>
}

export interface RunTaskOptions extends AppOptions {
  readonly agent?: string
  readonly workspace?: string
  readonly onProgress?: (progress: Progress) => void
}

export interface Ending {
  readonly dispatch_id: string
  readonly session_id: string
  readonly status: DispatchStatus
  readonly answer: string | null
  readonly error: string | null
  readonly failure_class: FailureClass | null
  readonly wait: Wait | null
  readonly workspace: string
  readonly stop_reason: StopReason | null
  readonly steps: number
  /** Why it never began. */
  readonly issues: readonly Issue[]
}

export interface TaskResult extends Ending {
  /** All criteria are met; null where there are none. */
  readonly success: boolean | null
  readonly criteria: readonly { readonly name: string; readonly met: boolean; readonly error?: string }[]
}

/**
 * Contract: resolves when the task is over or parked, whatever came of it; rejects when it could not even be queued. Several at once in one home
 * are fine where all have the same options.
 */
export async function runTask(task: string | Task, options: RunTaskOptions = {}): Promise<TaskResult> {
  checkOptions(options)
  if (typeof task !== 'string' && (typeof task !== 'object' || task === null || Array.isArray(task)))
    throw new TirelessError('usage', {
      what: 'the task is none',
      got: String(task).slice(0, 60),
      expected: 'text, or an object with `objective`',
    })
  const { agent, workspace, onProgress, ...appOptions } = options
  const { objective, success_criteria = [], ...wishes } = typeof task === 'string' ? { objective: task } : task
  if (!Array.isArray(success_criteria))
    throw new TirelessError('usage', {
      what: 'this is no list',
      where: 'success_criteria',
      expected: 'a list of criteria',
    })
  return useApp(appOptions, async (app) => {
    const input = { task: objective, agent, workspace, ...wishes }
    const ending = (await app.run('run', input, onProgress)) as Ending
    const criteria = await Promise.all(success_criteria.map((criterion) => judged(criterion, ending)))
    return { ...ending, success: criteria.length === 0 ? null : criteria.every(({ met }) => met), criteria }
  })
}

async function judged({ name, met }: Criterion, ending: Ending): Promise<TaskResult['criteria'][number]> {
  try {
    return { name, met: await met(ending) }
  } catch (thrown) {
    return { name, met: false, error: asTirelessError(thrown).message }
  }
}
