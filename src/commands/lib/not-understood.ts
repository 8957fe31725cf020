/** How much of a task the offline model left undone. It ends such a task as done (decision 47); its answer says so. */

import { z } from 'zod'
import type { JournalRecord } from '../../domain/journal-record.ts'
import { isOfflineModel } from '../../ports/model.ts'

export const notUnderstoodShape = z
  .enum(['all', 'part'])
  .nullable()
  .describe('how much of the task the offline model did not understand, and did not do')

type NotUnderstood = z.infer<typeof notUnderstoodShape>

/** What the offline model says of tasks and sentences that it does not understand, in both languages. */
const SAYS_SO = /NOT UNDERSTOOD|not understood|understood no sentence|no new task|看不懂|没看懂|没有新的任务/

/** `records`: of a run that is done, with this answer. */
export function howMuchNotUnderstood(records: readonly JournalRecord[], answer: string): NotUnderstood {
  const started = records.find((record) => record.kind === 'run_started')
  if (started?.kind !== 'run_started' || !isOfflineModel(started.setup?.model ?? '')) return null
  if (!SAYS_SO.test(answer)) return null
  return records.some(({ kind }) => kind === 'call_intended') ? 'part' : 'all'
}
