/** A task of the library, and what comes of it. */

import type { z } from 'zod'
import type { AppOptions } from '../app.ts'
import type { Progress } from '../commands/lib/progress.ts'
import type { Approval } from '../domain/approval.ts'
import type { Issue } from '../domain/decision.ts'
import type { DispatchStatus } from '../domain/dispatch.ts'
import { readSafely, TirelessError } from '../domain/error.ts'
import { describeValue } from '../domain/json.ts'
import type { FailureClass, StopReason } from '../domain/stop-reason.ts'
import type { Resource } from '../domain/task.ts'
import type { Wait } from '../domain/wait.ts'

/** `A`: the type of the answer. */
export interface Task<A = string> {
  readonly objective: string
  /** Schema of the answer: the model has to answer with JSON that matches; a wrong answer is asked for again. */
  readonly answer?: z.ZodType<A>
  readonly behaviour?: string
  readonly model?: string
  readonly parser?: string
  readonly memory?: string
  readonly env?: string
  readonly max_steps?: number | null
  readonly max_seconds?: number | null
  readonly max_tokens?: number | null
  readonly max_usd?: number | null
  /** Files that must exist before the task starts. */
  readonly resources?: readonly Resource[]
  /** Criteria that are checked when the run has ended, whatever its answer says. */
  readonly success_criteria?: readonly Criterion[]
}

export interface Criterion {
  readonly name: string
  met(ending: TaskEnd): boolean | Promise<boolean>
}

export interface TaskOptions extends AppOptions {
  readonly agent?: string
  readonly workspace?: string
  /** A task with a key that was used before in this home is not started again: the handle is that of the first. */
  readonly key?: string
  readonly onProgress?: (progress: Progress) => void
}

export interface TaskEnd {
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
  /** The reasons why the task did not start; empty if it did. */
  readonly issues: readonly Issue[]
  /** The calls that wait for the owner's approval. */
  readonly approvals: readonly Approval[]
  /** The files that the task created or changed. */
  readonly files: readonly string[]
}

export interface TaskResult<A = string> extends Omit<TaskEnd, 'answer'> {
  /** The answer; with a schema, what the schema makes of it. Null: there is none, or it does not pass the schema. */
  readonly answer: A | null
  /** The answer as the agent wrote it. */
  readonly text: string | null
  /** True if all criteria are met; null if there are none. */
  readonly success: boolean | null
  readonly criteria: readonly { readonly name: string; readonly met: boolean; readonly error?: string }[]
}

/** Contract: the task as an object; throws `usage` if it cannot be one. */
export function readTask<A>(task: string | Task<A>): Task<A> {
  const isList = readSafely('task', () => Array.isArray(task))
  if (typeof task !== 'string' && (typeof task !== 'object' || task === null || isList))
    throw new TirelessError('usage', {
      what: 'the task is not valid',
      got: describeValue(task),
      expected: 'text, or an object with `objective`',
    })
  const read = typeof task === 'string' ? { objective: task } : task
  const { success_criteria = [] } = read
  if (!Array.isArray(success_criteria) || !success_criteria.every(isCriterion))
    throw new TirelessError('usage', {
      what: 'this is not a list of criteria',
      where: 'success_criteria',
      expected: 'a list of objects with the text `name` and the function `met`',
    })
  return read
}

const isCriterion = (value: Partial<Criterion> | null): boolean =>
  typeof value?.name === 'string' && typeof value.met === 'function'
