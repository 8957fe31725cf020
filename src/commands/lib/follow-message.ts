/** Follows a message: the run that reads it, the session that it is passed on to, and what comes of it. */

import { type Dispatch, isTerminal } from '../../domain/dispatch.ts'
import { TirelessError } from '../../domain/error.ts'
import { type JournalRecord, recordsOfRun } from '../../domain/journal-record.ts'
import { type Language, languageOf } from '../../domain/language.ts'
import { renderReply, renderUnstarted } from '../../domain/reply-text.ts'
import { type Routed, readRouted } from '../../domain/routed.ts'
import { shortId } from '../../domain/short-id.ts'
import { titleOf } from '../../domain/title.ts'
import { traceFromRecords } from '../../trace/trace.ts'
import { watchDispatch } from '../run.ts'
import type { Needs } from './context.ts'
import type { Progress } from './progress.ts'
import { filesWrittenBy } from './written-files.ts'

export const WATCH_NEEDS = [
  'clock',
  'drain',
  'draining',
  'isQueueWorked',
  'role',
  'listen',
  'signals',
  'snapshots',
  'store',
  'wakeSignal',
] as const
type FollowNeeds = Needs<(typeof WATCH_NEEDS)[number] | 'kernelId'>

/** What came of a run so far. */
export interface RunReply {
  readonly session_id: string
  readonly dispatch_id: string
  readonly status: Dispatch['status']
  /** Markdown for the owner: the answer, a question, what waits for approval, or what went wrong. */
  readonly text: string | null
  readonly files: readonly string[]
}

/** A message that was accepted, and the run that gets it if no other does. */
interface FollowedMessage {
  readonly session_id: string
  readonly dispatch_id: string
  /** Undefined: the run is followed, whatever it reads. */
  readonly observation_id?: string | undefined
  readonly text: string
}

/** At most this many of an agent's newest dispatches are searched for one that is in flight. */
const MAX_RECENT = 50

/** Contract: resolves with the replies, the first one first, when the work ends, waits for long or is paused. */
export async function followMessage(
  context: FollowNeeds,
  message: FollowedMessage,
  tell: (progress: Progress) => void,
): Promise<readonly RunReply[]> {
  const replies: RunReply[] = []
  const language = languageOf(message.text)
  let next: FollowedMessage | undefined = message
  while (next) {
    const dispatch: Dispatch = await followToReader(context, next, tell)
    const records = await recordsOf(context, dispatch)
    replies.push(await replyOf(context, dispatch, records, language))
    next = passedOn(records, message)
    const to = shortId(next?.session_id ?? '')
    if (next) tell({ kind: 'note', text: `→ session ${to}`, zh: `→ 会话 ${to}` })
  }
  return replies
}

/** Follows runs of the session until one of them has read the message, and has ended or waits. */
async function followToReader(
  context: FollowNeeds,
  { session_id, dispatch_id, observation_id }: FollowedMessage,
  tell: (progress: Progress) => void,
): Promise<Dispatch> {
  let id = dispatch_id
  for (;;) {
    await watchDispatch(context, id, tell, ({ paused }) => paused)
    const since = context.wakeSignal.ringCount()
    const dispatch = await context.store.dispatch(id)
    if (!dispatch) throw new TirelessError('not_found', { what: 'the run no longer exists', got: id })
    if (isAtWork(dispatch) && !context.signals.drain.aborted) {
      // Another command of this process runs it.
      await context.wakeSignal.wait(since, context.signals.drain)
      continue
    }
    const isRead = observation_id === undefined || hasRead(await recordsOf(context, dispatch), observation_id)
    if (isRead || !isTerminal(dispatch.status)) return dispatch
    // The run ended just before it could read the message: another one was started for it.
    const recent = await context.store.recent(context.kernelId, dispatch.agent_id, MAX_RECENT)
    const later = recent.find((one) => one.session_id === session_id && !isTerminal(one.status))
    const reader = later?.dispatch_id ?? (await readerOf(context, session_id, observation_id))
    if (reader === undefined || reader === id) return dispatch
    id = reader
  }
}

const isAtWork = ({ status, paused }: Dispatch): boolean => (status === 'pending' || status === 'running') && !paused

const recordsOf = async ({ store }: FollowNeeds, { session_id, dispatch_id }: Dispatch) =>
  recordsOfRun(await store.journal(session_id), dispatch_id)

/** Contract: whether these records of a run show that it has read the message. */
export const hasRead = (records: readonly JournalRecord[], observationId: string): boolean =>
  records.some((record) => record.kind === 'input_bound' && record.input.some(({ id }) => id === observationId))

/** The run of the session that has read the message. */
async function readerOf({ store }: FollowNeeds, sessionId: string, observationId: string): Promise<string | undefined> {
  const journal = await store.journal(sessionId)
  const at = journal.findLastIndex((record) => hasRead([record], observationId))
  const start = journal.slice(0, at + 1).findLast(({ kind }) => kind === 'run_started')
  return start?.kind === 'run_started' ? start.run_id : undefined
}

/** Where the run has passed the message on; undefined: it has not. */
function passedOn(records: readonly JournalRecord[], { text }: FollowedMessage): FollowedMessage | undefined {
  const { session_id, dispatch_id } = routedOf(records) ?? {}
  return session_id === undefined || dispatch_id === undefined ? undefined : { session_id, dispatch_id, text }
}

/** What became of the message of the run, if it was routed. */
export const routedOf = (records: readonly JournalRecord[]): Routed | undefined =>
  records.flatMap((record) => (record.kind === 'call_settled' ? (readRouted(record.result) ?? []) : [])).at(-1)

async function replyOf(
  context: FollowNeeds,
  dispatch: Dispatch,
  records: readonly JournalRecord[],
  language: Language,
): Promise<RunReply> {
  const { dispatch_id, session_id, status } = dispatch
  const files = [...(await filesWrittenBy(context, dispatch_id))]
  const text = isTerminal(status)
    ? endText(dispatch, records, files, language)
    : await waitText(context, dispatch, records, language)
  return { session_id, dispatch_id, status, text: text ?? null, files }
}

/** Contract: what a run that has ended says; undefined if another session answers. */
export function endText(
  { dispatch_id: run_id, session_id, status, prompt, result, error, failure_class }: Dispatch,
  records: readonly JournalRecord[],
  files: readonly string[],
  language: Language,
): string | undefined {
  const routed = routedOf(records)
  if (routed && routed.reply === undefined && error === null) return undefined
  if ((status === 'cancelled' || status === 'dead') && records.length === 0)
    return renderUnstarted(status, titleOf(prompt), language)
  const { stop_reason } = traceFromRecords({ run_id, session_id }, records).manifest
  const ended = { answer: result ?? undefined, error: error ?? undefined, failure_class: failure_class ?? undefined }
  return renderReply({ ...ended, stop_reason: stop_reason ?? 'unrecoverable_error', files }, language)
}

/** What the run waits for: a question, approvals, or something else. */
async function waitText(
  { store }: FollowNeeds,
  { session_id, wait, paused }: Dispatch,
  records: readonly JournalRecord[],
  language: Language,
): Promise<string | undefined> {
  if (paused || wait === null) return undefined
  const open = await store.approvals({ session_id, status: 'open', limit: MAX_RECENT })
  if (open.length > 0)
    return open.map(({ id, tool, args }) => APPROVAL[language](tool, JSON.stringify(args), shortId(id))).join('\n\n')
  const asked = records.findLast((record) => record.kind === 'call_intended' && record.call.tool === 'ask_user')
  const { question } = (asked?.kind === 'call_intended' ? asked.call.args : {}) as { readonly question?: string }
  return question ?? wait.reason
}

const APPROVAL: Readonly<Record<Language, (tool: string, args: string, id: string) => string>> = {
  en: (tool, args, id) => `**${tool} needs your approval**\n\`${args}\`\n\`/allow ${id}\` · \`/deny ${id}\``,
  zh: (tool, args, id) => `**${tool} 需要你批准**\n\`${args}\`\n\`/allow ${id}\` · \`/deny ${id}\``,
}
