/** What the owner decided in a run, what a message answered, and whether an undo may have something to take back. */

import { z } from 'zod'
import { APPROVAL_STATUSES, type Approval } from '../../domain/approval.ts'
import type { Dispatch } from '../../domain/dispatch.ts'
import type { JournalRecord } from '../../domain/journal-record.ts'
import { hasRead } from './follow-message.ts'

export const decisionShape = z.object({
  id: z.string().describe('of the approval'),
  tool: z.string(),
  status: z.enum(APPROVAL_STATUSES),
  reason: z.string().nullable().describe("the owner's words to the agent"),
})

/** Contract: the answered approvals of the run, in the order in which they were asked. */
export const decisionsIn = (
  approvals: readonly Approval[],
  { dispatch_id }: Dispatch,
  redact: (text: string) => string,
): z.input<typeof decisionShape>[] =>
  approvals
    .filter(({ status, origin }) => status !== 'open' && origin.run_id === dispatch_id)
    .toSorted((a, b) => Date.parse(a.asked_at) - Date.parse(b.asked_at))
    .map(({ id, tool, status, answer_reason }) => ({
      ...{ id, tool, status },
      reason: answer_reason === null ? null : redact(answer_reason),
    }))

/** Contract: the question of `ask_user` that this message was the first to answer; null if it answered none. */
export function questionAnsweredBy(journal: readonly JournalRecord[], messageId: string): string | null {
  const read = journal.findIndex((record) => hasRead([record], messageId))
  const before = journal.slice(0, Math.max(read, 0))
  const asked = before.findLastIndex((record) => record.kind === 'call_intended' && record.call.tool === 'ask_user')
  const record = before[asked]
  if (record?.kind !== 'call_intended' || before.slice(asked).some(hasWords)) return null
  const { question } = record.call.args as { readonly question?: string }
  return question ?? null
}

const hasWords = (record: JournalRecord): boolean =>
  record.kind === 'input_bound' && record.input.some(({ type }) => type === 'user_message')

/** Tools without reach whose work an undo takes back. */
const CHANGING_TOOLS: ReadonlySet<string> = new Set(['remember', 'forget', 'edit_state', 'spawn_agent'])

/** Contract: false only if the run changed no files, facts or documents, nor did the cycle that it was part of. */
export const mayUndo = ({ cycle_id }: Dispatch, records: readonly JournalRecord[], files: readonly string[]): boolean =>
  cycle_id !== null || files.length > 0 || records.some(mayChange)

function mayChange(record: JournalRecord): boolean {
  if (record.kind !== 'call_intended') return false
  const { reach, recovery, writes } = record.effect
  if (recovery === 'pure') return false
  return (
    writes === true ||
    ['workspace', 'private', 'self', 'destructive'].includes(reach) ||
    CHANGING_TOOLS.has(record.call.tool)
  )
}
