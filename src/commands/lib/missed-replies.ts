/** Answers that came while the chat was closed: found once, by what the chat has shown before. */

import { isTerminal } from '../../domain/dispatch.ts'
import type { JournalRecord } from '../../domain/journal-record.ts'
import type { Json } from '../../domain/json.ts'
import { languageOf } from '../../domain/language.ts'
import type { Observation } from '../../domain/observation.ts'
import { commitOne, fallbackIfUnreadable } from '../../ports/store.ts'
import type { Needs } from './context.ts'
import { endText, type RunReply } from './follow-message.ts'
import { filesWrittenBy } from './written-files.ts'

/** What a chat has shown: everything before `at`, and these replies. */
interface SeenReplies {
  readonly at: number
  readonly ids: readonly string[]
}

type MissedNeeds = Needs<'clock' | 'snapshots' | 'store'>

const MAX_MISSED = 20
const MAX_REMEMBERED = 500
const MAX_AGE_MS = 7 * 86_400_000

const settingOf = (front: string): string => `chat_seen ${front}`

async function readSeen({ store, clock }: MissedNeeds, front: string): Promise<SeenReplies> {
  const { at, ids } = ((await store.setting(settingOf(front))) ?? {}) as { readonly [key: string]: Json }
  const oldest = clock.now() - MAX_AGE_MS
  return {
    at: typeof at === 'number' ? Math.max(at, oldest) : oldest,
    ids: Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [],
  }
}

const storeSeen = ({ store }: MissedNeeds, front: string, { at, ids }: SeenReplies) =>
  commitOne(store, [{ op: 'set', name: settingOf(front), value: { at, ids: ids.slice(-MAX_REMEMBERED) } }])

/** Several messages of a chat may be answered at once; what each has shown must not get lost. */
const lastChange = new WeakMap<object, Promise<unknown>>()

function oneAtATime<T>({ store }: MissedNeeds, change: () => Promise<T>): Promise<T> {
  const changed = (lastChange.get(store) ?? Promise.resolve()).then(change)
  lastChange.set(
    store,
    changed.catch(() => {}),
  )
  return changed
}

/** Contract: these runs are not shown again when the chat is opened. */
export async function rememberReplies(
  context: MissedNeeds,
  front: string,
  replies: readonly RunReply[],
): Promise<void> {
  const ended = replies.filter(({ status }) => isTerminal(status)).map(({ dispatch_id }) => dispatch_id)
  if (ended.length === 0) return
  await oneAtATime(context, async () => {
    const { at, ids } = await readSeen(context, front)
    await storeSeen(context, front, { at, ids: [...ids, ...ended] })
  })
}

/** Contract: the answers since the chat was last open, oldest first; a second call does not return them again. */
export const takeMissedReplies = (context: MissedNeeds, front: string): Promise<readonly RunReply[]> =>
  oneAtATime(context, () => takeMissed(context, front))

async function takeMissed(context: MissedNeeds, front: string): Promise<readonly RunReply[]> {
  const { store, clock } = context
  const now = clock.now()
  const seen = await readSeen(context, front)
  if (!(await store.session(front))) return []
  const journal = await fallbackIfUnreadable(store.journal(front), [])
  const inbox = await store.inbox(front)
  const read = journal.flatMap((record) => (record.kind === 'input_bound' ? record.input : []))
  const reported = [...read, ...inbox].flatMap(reportedReply)
  const own = await ownReplies(context, journal, seen.at)
  const isNew = ({ ts, reply }: DatedReply): boolean => ts > seen.at && !seen.ids.includes(reply.dispatch_id)
  const missed = [...reported, ...own].filter(isNew).toSorted((a, b) => a.ts - b.ts)
  const once = [...new Map(missed.map((one) => [one.reply.dispatch_id, one.reply])).values()]
  await storeSeen(context, front, { at: now, ids: once.map(({ dispatch_id }) => dispatch_id) })
  return once.slice(-MAX_MISSED)
}

interface DatedReply {
  readonly ts: number
  readonly reply: RunReply
}

/** What runs of other sessions reported to the session in front. */
function reportedReply(observation: Observation): readonly DatedReply[] {
  if (observation.type !== 'system_event' || observation.name !== 'reply') return []
  const { session, run, status, text } = observation.payload as Readonly<Record<string, string>>
  if (session === undefined || run === undefined || text === undefined) return []
  const reply = { session_id: session, dispatch_id: run, status: status as RunReply['status'], text, files: [] }
  return [{ ts: observation.ts, reply }]
}

/** Answers that the session in front gave itself. */
async function ownReplies(
  context: MissedNeeds,
  journal: readonly JournalRecord[],
  since: number,
): Promise<readonly DatedReply[]> {
  const ended = journal.filter(({ kind, ts }) => kind === 'run_ended' && ts > since)
  const found = ended.map(async ({ seq, ts }): Promise<readonly DatedReply[]> => {
    const start = journal.findLast((record) => record.kind === 'run_started' && record.seq < seq)
    const dispatch = start?.kind === 'run_started' ? await context.store.dispatch(start.run_id) : undefined
    if (!dispatch || !isTerminal(dispatch.status)) return []
    const records = journal.filter((record) => record.seq >= (start?.seq ?? 0) && record.seq <= seq)
    const said = records.flatMap((record) => (record.kind === 'input_bound' ? record.input : []))
    const asked = said.findLast(({ type }) => type === 'user_message')
    const language = languageOf(asked?.type === 'user_message' ? asked.text : '')
    const { session_id, dispatch_id, status } = dispatch
    const files = [...(await filesWrittenBy(context, dispatch_id))]
    const text = endText(dispatch, records, files, language)
    return text === undefined ? [] : [{ ts, reply: { session_id, dispatch_id, status, text, files } }]
  })
  return (await Promise.all(found)).flat()
}
