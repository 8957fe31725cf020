/** The last messages of each named chat, with what became of each: which run got it, or what was said at once. */

import { clipText } from '../../domain/clean-summary.ts'
import type { Json } from '../../domain/json.ts'
import { fallbackIfUnreadable, type Op } from '../../ports/store.ts'
import { inTurn } from './chat/message-queue.ts'
import type { Needs } from './context.ts'

/**
 * A message of the owner. `session_id` and `dispatch_id`: the run that got it; the second one is missing if the program
 * was killed right after it accepted the message.
 */
interface LoggedMessage {
  readonly id: string
  readonly at: number
  readonly text: string
  /** What was said at once. */
  readonly reply: string | null
  readonly session_id: string | null
  readonly dispatch_id: string | null
}

const MAX_MESSAGES = 100
const MAX_TEXT = 4000
const MAX_REPLY = 8000
const MAX_CHARACTERS = 100_000

const settingOf = (front: string): string => `chat_log ${front}`

/** Contract: oldest first; a setting may contain anything. */
export async function readChatLog({ store }: Needs<'store'>, front: string): Promise<readonly LoggedMessage[]> {
  const stored = await fallbackIfUnreadable(store.setting(settingOf(front)), null)
  return Array.isArray(stored) ? stored.flatMap(readMessage) : []
}

function readMessage(value: Json): readonly LoggedMessage[] {
  const { id, at, text, reply, session_id, dispatch_id } = (value ?? {}) as { readonly [key: string]: Json }
  if (typeof id !== 'string' || typeof at !== 'number' || typeof text !== 'string') return []
  const orNull = (given: Json | undefined): string | null => (typeof given === 'string' ? given : null)
  const answered = { reply: orNull(reply), session_id: orNull(session_id), dispatch_id: orNull(dispatch_id) }
  return [{ id, at, text, ...answered }]
}

/** Contract: `work` reads and writes the log. Several messages may come at once, and none may get lost. */
export const inChatLog = <T>({ store }: Needs<'store'>, front: string, work: () => Promise<T>): Promise<T> =>
  inTurn(store, settingOf(front), Number.POSITIVE_INFINITY, work)

/**
 * Contract: call it in `inChatLog`; the operations that add the message, or what became of it since. The oldest
 * messages are dropped.
 */
export async function logOps(context: Needs<'store'>, front: string, message: LoggedMessage): Promise<readonly Op[]> {
  const { id, text, reply } = message
  const log = await readChatLog(context, front)
  const known = log.find((one) => one.id === id)
  if (known && (known.dispatch_id !== null || message.dispatch_id === null)) return []
  const added = {
    ...message,
    text: clipText(text, MAX_TEXT),
    reply: reply === null ? null : clipText(reply, MAX_REPLY),
  }
  const { dispatch_id } = message
  const next = known ? log.map((one) => (one === known ? { ...one, dispatch_id } : one)) : newest([...log, added])
  return [{ op: 'set', name: settingOf(front), value: next.map((one) => ({ ...one })) }]
}

/** The whole log is written with each message, so it is bounded in both ways. */
function newest(log: readonly LoggedMessage[]): readonly LoggedMessage[] {
  let characters = 0
  const first = log.findLastIndex(({ text, reply }) => {
    characters += text.length + (reply?.length ?? 0)
    return characters > MAX_CHARACTERS
  })
  return log.slice(Math.max(first + 1, log.length - MAX_MESSAGES))
}
