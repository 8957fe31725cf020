/**
 * Passes messages of a front session on: to a session that exists, or to a new one.
 * Must not know: why the message is passed on.
 * Invariants: a repeated call changes nothing: messages keep their ids, and the ids of a new session follow from the
 * call. A run routes its messages once. A text is never trusted more than before (I12).
 */

import { editDistance } from '../../domain/edit-distance.ts'
import { TirelessError } from '../../domain/error.ts'
import type { FactOrigin } from '../../domain/fact.ts'
import type { JournalRecord } from '../../domain/journal-record.ts'
import type { Json } from '../../domain/json.ts'
import { CLEAN_LABEL, isCleanLabel, lowestLabel, UNTRUSTED_LABEL } from '../../domain/label.ts'
import type { Observation } from '../../domain/observation.ts'
import { isFrontSession, type ReplyTo, readReplyTo } from '../../domain/reply-to.ts'
import { readRouted } from '../../domain/routed.ts'
import type { Session } from '../../domain/session.ts'
import { threadBinding, threadSetting } from '../../domain/thread-binding.ts'
import { lowerWorkspaceLabel } from '../../engine/calls/shared-workspace.ts'
import type { MessageRouter, RoutedTurn } from '../../ports/message-router.ts'
import type { ReceivedFiles } from '../../ports/received-files.ts'
import { commitOne, type Op, type OpResults } from '../../ports/store.ts'
import { idFromCall } from '../queue/id-from-call.ts'
import { CONVERSATION_PRIORITY, type ConversationDeps } from './front-session.ts'

/** The newest sessions are searched for an id like the one that was named. */
const MAX_COMPARED = 200
const MAX_NAMED = 5

type OwnerText = Extract<Observation, { type: 'user_message' }>

interface RouterDeps extends ConversationDeps {
  readonly receivedFiles: Pick<ReceivedFiles, 'copy'>
}

export const createMessageRouter = (deps: RouterDeps): MessageRouter => ({
  async ensureOpen(turn) {
    await messagesOf(deps, turn.origin)
  },
  toSession: (turn, sessionId) => passOn(deps, turn, sessionId),
  toNewSession: (turn, title) => startSession(deps, turn, title),
})

async function passOn(deps: RouterDeps, turn: RoutedTurn, session_id: string) {
  const { store, clock, ids } = deps
  const target = isFrontSession(session_id) ? undefined : await store.session(session_id)
  if (!target) throw await noSuchSession(deps, session_id)
  const { messages, reply_to } = await messagesOf(deps, turn.origin)
  await copyFiles(deps, turn, messages, target)
  const now = clock.now()
  const publish = messages.map(
    (observation): Extract<Op, { op: 'publish' }> => ({
      ...{ op: 'publish', session_id, successor_id: ids.next(), now },
      observation: { ...(reply_to ? { reply_to } : {}), ...observation },
    }),
  )
  const results = await commitOne<readonly Op[]>(store, [...publish, ...bindThread(reply_to, session_id)])
  const published = results.slice(0, publish.length) as readonly OpResults['publish'][]
  return { dispatch_id: published.find(({ dispatch_id }) => dispatch_id !== null)?.dispatch_id ?? null }
}

async function startSession(deps: RouterDeps, turn: RoutedTurn, title: string | undefined) {
  const { store, clock, kernelId } = deps
  const { agent_id } = turn.origin
  const { messages, reply_to, metadata } = await messagesOf(deps, turn.origin)
  const dispatch_id = idFromCall('route', turn.call)
  const session_id = `${agent_id}-${dispatch_id}`
  const label = messages.reduce((sum, message) => lowestLabel(sum, message.label ?? CLEAN_LABEL), CLEAN_LABEL)
  const made = await store.session(session_id)
  const workspace = made?.workspace ?? (await deps.prepareWorkspace(session_id, { agent: agent_id })).path
  await copyFiles(deps, turn, messages, { ...made, workspace })
  const dispatch = {
    ...{ dispatch_id, kernel_id: kernelId, agent_id, session_id, workspace },
    prompt: messages.map(({ text }) => text).join('\n\n'),
    ...{ priority: CONVERSATION_PRIORITY, source: 'route', key: turn.call },
    metadata: {
      ...metadata,
      behaviour: 'plan',
      ...(reply_to ? { reply_to: { ...reply_to } } : {}),
      ...(title === undefined ? {} : { title }),
      ...(isCleanLabel(label) ? {} : { label: { ...label } }),
      ...(messages.some(({ words }) => words !== undefined) ? { words: 'model' } : {}),
    },
  }
  const enqueue = { op: 'enqueue', dispatches: [dispatch], now: clock.now() } as const
  await commitOne<readonly Op[]>(store, [enqueue, ...bindThread(reply_to, session_id)])
  return { session_id, dispatch_id }
}

/** The files of the messages keep their paths in the other workspace. */
async function copyFiles(
  { store, receivedFiles }: RouterDeps,
  { origin }: RoutedTurn,
  messages: readonly OwnerText[],
  to: Pick<Session, 'workspace'> & Partial<Session>,
): Promise<void> {
  const files = messages.flatMap(({ files = [] }) => files)
  const from = await store.session(origin.session_id)
  if (files.length === 0 || from === undefined) return
  if ((to.home ?? from.home) !== from.home)
    throw new TirelessError('conflict', {
      what: 'the files of the message cannot be passed on: that session works on another machine',
      fix: 'start a new session for this message',
    })
  await lowerWorkspaceLabel(store, to.workspace, UNTRUSTED_LABEL)
  for (const file of files) await receivedFiles.copy(from.workspace, to.workspace, file.split('/'))
}

/** Later messages of the thread go to the session directly. */
function bindThread(to: ReplyTo | undefined, session_id: string): readonly Op[] {
  const name = to && threadSetting(to)
  return name === undefined ? [] : [{ op: 'set', name, value: threadBinding(session_id) }]
}

/** The owner's messages that the current run of a session has read so far, and where their answers go. */
async function messagesOf({ store }: ConversationDeps, { session_id }: FactOrigin) {
  const journal = await store.journal(session_id)
  const from = journal.findLastIndex(({ kind }) => kind === 'run_started')
  const start = journal[from] as Extract<JournalRecord, { kind: 'run_started' }> | undefined
  if (journal.slice(from).some(hasRouted))
    throw new TirelessError('conflict', {
      ...{ what: 'the message was routed already', expected: 'one route per message' },
    })
  const dispatch = start && (await store.dispatch(start.run_id))
  const messages = journal
    .slice(from)
    .flatMap((record) => (record.kind === 'input_bound' ? record.input : []))
    .filter((observation): observation is OwnerText => observation.type === 'user_message')
  const named = messages.findLast(({ reply_to }) => reply_to !== undefined)?.reply_to
  const reply_to: ReplyTo | undefined = named ?? readReplyTo(dispatch?.metadata.reply_to)
  return { messages: dropRepeated(messages), reply_to, metadata: chatMetadata(dispatch?.metadata ?? {}) }
}

/** A call that is repeated after a crash has no result yet. */
const hasRouted = (record: JournalRecord): boolean =>
  record.kind === 'call_settled' && readRouted(record.result) !== undefined

/** A turn that was given up is bound again, with the same messages. */
const dropRepeated = (messages: readonly OwnerText[]): readonly OwnerText[] => [
  ...new Map(messages.map((message) => [message.id, message])).values(),
]

/** The part of the metadata by which a model is selected. */
function chatMetadata({ channel, chat_id, user_id }: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
  const entries = Object.entries({ channel, chat_id, user_id }).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Readonly<Record<string, Json>>
}

async function noSuchSession({ store }: ConversationDeps, got: string): Promise<TirelessError> {
  const all = (await store.sessions({ limit: MAX_COMPARED })).map(({ session_id }) => session_id)
  const near = all
    .filter((id) => !isFrontSession(id))
    .map((id) => ({ id, distance: editDistance(id, got) }))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, MAX_NAMED)
    .map(({ id }) => id)
  return new TirelessError('not_found', {
    what: 'no such session',
    got,
    expected: near.length === 0 ? 'new or none: there is no other session yet' : `one of ${near.join(', ')}`,
  })
}
