/** ReplyTo: where the answer of a run goes: a chat of a channel, or the session in front of a terminal. Pure. */

import type { Json } from './json.ts'

export type ReplyTo =
  /** `chat` null: the channel's default chat. `thread`: the thread of the chat. */
  { readonly channel: string; readonly chat: string | null; readonly thread?: string } | { readonly session: string }

/** Contract: undefined if the value is no target; metadata may contain anything. */
export function readReplyTo(value: Json | undefined): ReplyTo | undefined {
  const { channel, chat, session, thread } = (value ?? {}) as { readonly [key: string]: Json }
  if (typeof session === 'string') return { session }
  if (typeof channel !== 'string') return undefined
  return { channel, chat: typeof chat === 'string' ? chat : null, ...(typeof thread === 'string' ? { thread } : {}) }
}

export const isSameTarget = (a: ReplyTo, b: ReplyTo): boolean => JSON.stringify(keyOf(a)) === JSON.stringify(keyOf(b))

/** The fields of a message that goes there. */
export const chatOf = ({ channel, chat, thread }: Extract<ReplyTo, { channel: string }>) => ({
  ...{ channel, chat_id: chat },
  ...(thread === undefined ? {} : { thread_id: thread }),
})

const keyOf = (to: ReplyTo): readonly (string | null)[] =>
  'session' in to ? [to.session] : [to.channel, to.chat, to.thread ?? null]

/** Longest name of a chat in the id of its session. */
const MAX_NAME = 100

/** The session in front of a chat, or of a thread of it: it reads what is said there without naming a session. */
export function frontSessionId(to: ReplyTo): string {
  if ('session' in to) return to.session
  const chat = [to.channel, ...(to.chat === null ? [] : [to.chat])].map(plainName).join('-')
  // No name contains a plus, so no thread has the session of another chat.
  return `chat-${chat}${to.thread === undefined ? '' : `+${plainName(to.thread)}`}`
}

/** The session in front of a terminal or program. */
export const namedFrontSessionId = (name: string): string => `chat-${plainName(name)}`

export const isFrontSession = (sessionId: string): boolean => sessionId.startsWith('chat-')

const plainName = (name: string): string => encodeURIComponent(name).replaceAll('%', '_').slice(0, MAX_NAME)

/** Contract: the targets without duplicates, in order. */
function distinctTargets(targets: readonly ReplyTo[]): readonly ReplyTo[] {
  return targets.filter((to, at) => targets.findIndex((other) => isSameTarget(to, other)) === at)
}

/**
 * Contract: where the answer of a run goes: where its task and the messages that it read came from. The metadata says
 * where the task came from; it counts for a run without a task only if the messages do not say.
 */
export function replyTargets(
  messages: readonly { readonly reply_to?: ReplyTo }[],
  { metadata, prompt }: { readonly metadata: Readonly<Record<string, Json>>; readonly prompt: string },
): readonly ReplyTo[] {
  const named = messages.flatMap(({ reply_to }) => (reply_to === undefined ? [] : [reply_to]))
  const standing = readReplyTo(metadata.reply_to)
  return distinctTargets([...(standing && (prompt !== '' || named.length === 0) ? [standing] : []), ...named])
}
