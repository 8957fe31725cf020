/**
 * Front sessions: each chat, terminal or program has one session that reads what is said without naming a session, and
 * decides who answers it.
 * Must not know: how the message came, how the answer is delivered.
 * Invariants: a message is published once per id; the session is created in the same commit as its first message.
 */

import type { Json } from '../../domain/json.ts'
import type { ChatMessage } from '../../domain/message.ts'
import type { Observation } from '../../domain/observation.ts'
import { frontSessionId, namedFrontSessionId, type ReplyTo } from '../../domain/reply-to.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Ids } from '../../ports/ids.ts'
import type { Op, Store } from '../../ports/store.ts'

/** The agent that people talk with. */
const ASSISTANT = 'assistant'
/** Above queued tasks, because a person waits for the answer. */
export const CONVERSATION_PRIORITY = 100

export interface ConversationDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly kernelId: string
  /** The id of this home, if several homes share the store. */
  readonly homeId?: string | undefined
  /** Contract: the folder for a session's files: its own, or the one that the configuration of the agent names. */
  prepareWorkspace(sessionId: string, of?: { readonly agent: string }): Promise<{ readonly path: string }>
}

/** Where a person writes. */
export interface Chat {
  readonly front: string
  readonly reply_to: ReplyTo
  /** Metadata of the dispatches of this chat. */
  readonly metadata: Readonly<Record<string, Json>>
}

/** A terminal or program, by a name of its own. */
export function namedChat(name: string): Chat {
  const front = namedFrontSessionId(name)
  return { front, reply_to: { session: front }, metadata: {} }
}

export function channelChat({
  channel,
  chat_id,
  user_id,
  thread_id,
}: Pick<ChatMessage, 'channel' | 'chat_id' | 'user_id' | 'thread_id'>): Chat {
  const reply_to = { channel, chat: chat_id, ...(thread_id === undefined ? {} : { thread: thread_id }) }
  return {
    ...{ front: frontSessionId(reply_to), reply_to },
    metadata: { channel, ...(chat_id === null ? {} : { chat_id }), ...(user_id === null ? {} : { user_id }) },
  }
}

/** A workspace in this home, or the name of the machine that has it. */
export type FilePlace = { readonly workspace: string } | { readonly host: string }

/** A message of the owner. */
export interface OwnerMessage {
  readonly id: string
  readonly text: string
  readonly route?: boolean
  /** It answers nothing that was asked. */
  readonly isNew?: boolean
  /**
   * Contract: puts the files of the message into the workspace of the session that gets it. If that is on another
   * machine, the files are refused.
   */
  attach?(to: FilePlace): Promise<Attachment>
}

/** A message whose files are in a workspace. */
export interface Attachment {
  /** The text of the message, with the paths of its files. */
  readonly text: string
  /** Paths relative to the workspace. */
  readonly files: readonly string[]
  /** What to tell the person: files that were not accepted. */
  readonly note?: string
}

/** Contract: the operation that publishes the message to a session; its answer goes to the chat. */
export function publishOp(
  { clock, ids }: ConversationDeps,
  chat: Chat,
  session_id: string,
  said: Omit<OwnerMessage, 'attach'> & { readonly files?: readonly string[] },
): PublishOp {
  const { id, text, route = false, files = [] } = said
  const now = clock.now()
  const { reply_to } = chat
  const observation: Observation = {
    ...{ id, type: 'user_message', text, ts: now, reply_to, ...(route && { route }) },
    ...(files.length === 0 ? {} : { files }),
  }
  return { op: 'publish', session_id, observation, successor_id: ids.next(), now }
}

type PublishOp = Extract<Op, { op: 'publish' }>

/** A message for a session: what to write, and what to tell the person at once. */
interface MessageToSession {
  readonly ops: readonly [...Op[], PublishOp]
  readonly note?: string
}

/** Contract: publishes the message to a session that exists, with its files. */
export async function sessionOps(
  deps: ConversationDeps,
  chat: Chat,
  session_id: string,
  said: OwnerMessage,
): Promise<MessageToSession> {
  const { note, ...attached } = await attachTo(said, said.attach && (await placeOf(deps, session_id)))
  return { ops: [publishOp(deps, chat, session_id, attached)], ...(note === undefined ? {} : { note }) }
}

async function placeOf({ store, clock, homeId }: ConversationDeps, session_id: string): Promise<FilePlace | undefined> {
  const session = await store.session(session_id)
  const home = session?.home ?? homeId
  if (!session || home === undefined || home === homeId) return session
  const [seen] = await store.homes([home], clock.now())
  return { host: seen?.host ?? home }
}

async function attachTo(
  { attach, ...said }: OwnerMessage,
  place: FilePlace | undefined,
): Promise<Omit<OwnerMessage, 'attach'> & Partial<Attachment>> {
  return attach && place ? { ...said, ...(await attach(place)) } : said
}

/**
 * Contract: operations that publish the message to the session in front of the chat; the last one is the `publish`.
 * Their commit is a `conflict` if another message created the session meanwhile: then call it again.
 */
export async function frontOps(deps: ConversationDeps, chat: Chat, said: OwnerMessage): Promise<MessageToSession> {
  if (await deps.store.session(chat.front)) return sessionOps(deps, chat, chat.front, said)
  const { path: workspace } = await deps.prepareWorkspace(chat.front)
  const { note, ...attached } = await attachTo(said, { workspace })
  const publish = publishOp(deps, chat, chat.front, attached)
  const first = {
    ...{ dispatch_id: deps.ids.next(), kernel_id: deps.kernelId, agent_id: ASSISTANT, session_id: chat.front },
    ...{ prompt: '', priority: CONVERSATION_PRIORITY, source: 'chat', workspace },
    metadata: { ...chat.metadata, behaviour: 'resolve_router', reply_to: { ...chat.reply_to } },
  }
  const ops = [{ op: 'enqueue', dispatches: [first], now: publish.now }, publish] as const
  return { ops, ...(note === undefined ? {} : { note }) }
}
