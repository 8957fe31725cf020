/**
 * Chat commands that commit by themselves. Each is noted in the commit that hears its message, and the note is removed
 * in the commit with its reply. So a command whose process died is never run again, and its chat is told.
 */

import type { Json } from '../../../domain/json.ts'
import type { Language } from '../../../domain/language.ts'
import type { ChatMessage } from '../../../domain/message.ts'
import { fallbackIfUnreadable, type Op, type Store } from '../../../ports/store.ts'

const SETTING = 'chat commands'

export type NotedCommand = Pick<ChatMessage, 'channel' | 'chat_id' | 'message_id' | 'thread_id' | 'text'>

/** Contract: the commands that were noted, and not answered; skips invalid entries. */
export async function notedCommands(store: Pick<Store, 'setting'>): Promise<readonly NotedCommand[]> {
  const stored = await fallbackIfUnreadable(store.setting(SETTING), null)
  return Array.isArray(stored) ? (stored as readonly Json[]).filter(isNoted) : []
}

const isNoted = (entry: Json): entry is Json & NotedCommand =>
  typeof entry === 'object' && entry !== null && 'channel' in entry && 'message_id' in entry && 'text' in entry

export async function noteOp(
  store: Store,
  { channel, chat_id, message_id, thread_id, text }: ChatMessage,
): Promise<Op> {
  const noted = { channel, chat_id, message_id, text, ...(thread_id === undefined ? {} : { thread_id }) }
  return { op: 'set', name: SETTING, value: [...(await notedCommands(store)).map((one) => ({ ...one })), noted] }
}

export async function removeNoteOp(store: Store, { channel, message_id }: NotedCommand): Promise<Op> {
  const left = (await notedCommands(store)).filter((one) => one.channel !== channel || one.message_id !== message_id)
  return { op: 'set', name: SETTING, value: left.map((one) => ({ ...one })) }
}

export const interruptedText = (text: string, language: Language): string => TEXTS[language](text)

const TEXTS: Readonly<Record<Language, (text: string) => string>> = {
  en: (text) => `The program stopped while it worked on "${text}". Check what was done; if needed, send it again.`,
  zh: (text) => `程序在执行“${text}”时停止了。请检查已经完成的部分；如有需要请重新发送。`,
}
