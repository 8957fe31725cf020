/**
 * Chat commands that commit by themselves. Each is noted in the commit that hears its message, and the note is removed
 * in the commit with its reply. So a command whose process died is never run again, and its chat is told.
 */

import { asTirelessError } from '../../../domain/error.ts'
import type { Json } from '../../../domain/json.ts'
import type { Language } from '../../../domain/language.ts'
import type { ChatMessage } from '../../../domain/message.ts'
import { commitOne, fallbackIfUnreadable, type Op, type Store } from '../../../ports/store.ts'
import type { Needs } from '../context.ts'

const SETTING = 'chat commands'

/** `epoch`: of the process that works on it, on a shared store. */
export type NotedCommand = Pick<ChatMessage, 'channel' | 'chat_id' | 'message_id' | 'thread_id' | 'text'> & {
  readonly epoch?: number
}

const readNoted = (stored: Json | undefined): readonly NotedCommand[] =>
  Array.isArray(stored) ? (stored as readonly Json[]).filter(isNoted) : []

const isNoted = (entry: Json): entry is Json & NotedCommand =>
  typeof entry === 'object' && entry !== null && 'channel' in entry && 'message_id' in entry && 'text' in entry

/** Contract: notes the command in the commit of these operations. */
export function noteCommand(
  { store, epoch }: Needs<'epoch' | 'store'>,
  { channel, chat_id, message_id, thread_id, text }: ChatMessage,
  ops: readonly Op[],
): Promise<void> {
  const worker = store.onChange ? epoch() : undefined
  const noted = {
    ...{ channel, chat_id, message_id, text, ...(thread_id === undefined ? {} : { thread_id }) },
    ...(worker === undefined ? {} : { epoch: worker }),
  }
  return changeNotes(store, (all) => [...all, noted], ops)
}

/** Contract: removes the note in the commit of these operations. */
export const removeNote = (store: Store, { channel, message_id }: NotedCommand, ops: readonly Op[]): Promise<void> =>
  changeNotes(store, (all) => all.filter((one) => one.channel !== channel || one.message_id !== message_id), ops)

/** Starts over if another process has changed the notes meanwhile. */
async function changeNotes(
  store: Store,
  change: (noted: readonly NotedCommand[]) => readonly NotedCommand[],
  ops: readonly Op[],
): Promise<void> {
  for (;;) {
    const base = await fallbackIfUnreadable(store.setting(SETTING), undefined)
    const value = change(readNoted(base)).map((one) => ({ ...one }))
    try {
      await commitOne(store, [...ops, { op: 'set', name: SETTING, value, ...(base === undefined ? {} : { base }) }])
      return
    } catch (thrown) {
      if (asTirelessError(thrown).code !== 'store_sequence') throw thrown
    }
  }
}

/** Contract: the commands that were noted and not answered, and that no living process works on. */
export async function interruptedCommands({
  store,
  clock,
}: Needs<'clock' | 'store'>): Promise<readonly NotedCommand[]> {
  const noted = readNoted(await fallbackIfUnreadable(store.setting(SETTING), null))
  if (noted.every(({ epoch }) => epoch === undefined)) return noted
  const alive = new Set((await store.workers(clock.now())).map(({ epoch }) => epoch))
  return noted.filter(({ epoch }) => epoch === undefined || !alive.has(epoch))
}

export const interruptedText = (text: string, language: Language): string => TEXTS[language](text)

const TEXTS: Readonly<Record<Language, (text: string) => string>> = {
  en: (text) => `The program stopped while it worked on "${text}". Check what was done; if needed, send it again.`,
  zh: (text) => `程序在执行“${text}”时停止了。请检查已经完成的部分；如有需要请重新发送。`,
}
