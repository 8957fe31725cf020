/** The thread of a session: what was said to it, and what each of its runs made of it. */

import { relative } from 'node:path'
import { z } from 'zod'
import { DISPATCH_STATUSES, type Dispatch, isTerminal } from '../../domain/dispatch.ts'
import { type JournalRecord, recordsOfRun } from '../../domain/journal-record.ts'
import { languageOf } from '../../domain/language.ts'
import type { Observation } from '../../domain/observation.ts'
import type { Session } from '../../domain/session.ts'
import { titleOfRun } from '../../domain/title.ts'
import { iso } from '../../ports/clock.ts'
import type { Needs } from './context.ts'
import { endText } from './follow-message.ts'
import { type findHolds, heldByShape } from './held-by.ts'
import { dispatchSchema } from './output-schemas.ts'
import { type findUndone, undoneByShape } from './undone-runs.ts'
import { filesWrittenBy } from './written-files.ts'

const receivedShape = z.object({
  id: z.string(),
  at: z.string(),
  kind: z.enum(['message', 'event']).describe('message: words of a person; event: something that happened'),
  text: z.string().describe('the words, or the name of the event'),
})

export const threadRunShape = z.object({
  dispatch_id: z.string(),
  status: z.enum(DISPATCH_STATUSES),
  cancel: dispatchSchema.shape.cancel.describe('the cancellation that was asked for'),
  title: z.string(),
  task: z.string().nullable().describe('what the run was asked when it was made; null: it only received messages'),
  received: z.array(receivedShape).describe('what else reached it, in the order in which it was read'),
  text: z.string().nullable().describe('Markdown: the answer, or what went wrong; null: nothing yet'),
  question: z.string().nullable().describe('what the run asks and waits for'),
  wait: dispatchSchema.shape.wait.describe('what a run that waits needs to go on'),
  held_by: heldByShape,
  files: z.array(z.string()).describe('files that the run created or changed, relative to the workspace'),
  steps: z.number(),
  cost_usd: z.number().nullable().describe('null: no price is known'),
  undone_by: undoneByShape,
  created_at: z.string(),
  updated_at: z.string(),
})
type ThreadRun = z.input<typeof threadRunShape>

export const unreadShape = z.array(receivedShape).describe('what no run has read yet')

type ThreadContext = Needs<'redact' | 'snapshots' | 'store'>

/** Contract: the title that the conversation gave to the work, else that of the run. */
export const titleOfWork = ({ prompt, metadata }: Dispatch): string =>
  typeof metadata.title === 'string' ? metadata.title : titleOfRun(prompt, metadata.behaviour)

/** What the runs of a session have in common. */
interface ThreadOf {
  readonly session: Session
  readonly journal: readonly JournalRecord[]
  readonly undoneBy: Awaited<ReturnType<typeof findUndone>>
  readonly heldBy: Awaited<ReturnType<typeof findHolds>>
}

export async function describeThreadRun(
  context: ThreadContext,
  { session: { workspace }, journal, undoneBy, heldBy }: ThreadOf,
  dispatch: Dispatch,
): Promise<ThreadRun> {
  const { dispatch_id, status, cancel, prompt, wait, created_at, updated_at } = dispatch
  const { redact } = context
  const records = recordsOfRun(journal, dispatch_id)
  const received = records.flatMap((record) => (record.kind === 'input_bound' ? record.input : []))
  const words = received.findLast(({ type }) => type === 'user_message')
  const said = prompt === '' && words?.type === 'user_message' ? words.text : prompt
  const text = isTerminal(status) ? endText(dispatch, records, [], languageOf(said)) : undefined
  const files = await filesWrittenBy(context, dispatch_id)
  const asked = questionOf(dispatch, records)
  return {
    ...{ dispatch_id, status, cancel, created_at, updated_at },
    title: redact(titleOfWork(dispatch)),
    task: prompt === '' ? null : redact(prompt),
    received: describeInput(withoutTask(received, prompt), redact),
    text: text === undefined ? null : redact(text),
    question: asked && redact(asked),
    wait: wait && { ...wait, reason: redact(wait.reason) },
    files: files.map((file) => relative(workspace, file)),
    steps: records.filter(({ kind }) => kind === 'step_committed').length,
    cost_usd: costOfRecords(records),
    ...{ undone_by: undoneBy(dispatch_id), held_by: heldBy(dispatch) },
  }
}

/** The task reaches the run as its first message; it is shown as the task. */
function withoutTask(received: readonly Observation[], task: string): readonly Observation[] {
  const at = received.findIndex((one) => one.type === 'user_message' && one.text === task)
  return at < 0 ? received : received.toSpliced(at, 1)
}

export const describeInput = (
  received: readonly Observation[],
  redact: (text: string) => string,
): z.input<typeof unreadShape> =>
  received.map((one) => ({
    ...{ id: one.id, at: iso(one.ts), kind: one.type === 'user_message' ? 'message' : 'event' },
    text: one.type === 'user_message' ? redact(one.text) : one.name,
  }))

/** Contract: null if no price of a model is known. */
export function costOfRecords(records: readonly JournalRecord[]): number | null {
  const priced = records.flatMap((record) => (record.kind === 'model_answered' ? (record.usd ?? []) : []))
  return priced.length === 0 ? null : priced.reduce((sum, usd) => sum + usd, 0)
}

/** Contract: what a run that waits for a person asks; null if it does not. */
export function questionOf({ status, wait }: Dispatch, records: readonly JournalRecord[]): string | null {
  if (status !== 'waiting' || wait?.kind !== 'observation' || wait.match !== 'user_message') return null
  const asked = records.findLast((record) => record.kind === 'call_intended' && record.call.tool === 'ask_user')
  const { question } = (asked?.kind === 'call_intended' ? asked.call.args : {}) as { readonly question?: string }
  return question ?? wait.reason
}
