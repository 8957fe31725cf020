/**
 * Checks a chat message where it enters the program: a channel may be a plugin, and what it passes on was written by
 * anyone. A message that passes has the name of the channel that received it, and only texts that the store can hold.
 */

import { z } from 'zod'
import { describeMismatch } from '../domain/describe-issues.ts'
import { readSafely, TirelessError } from '../domain/error.ts'
import type { ChatMessage, ReceivedFile } from '../domain/message.ts'

const MAX_ID = 200
const MAX_NAME = 1000
const MAX_CHAT_TEXT = 100_000
const MAX_NAMED_FILES = 100

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
const name = z.string().max(MAX_ID).refine(isStorable, 'expected text without NUL characters and lone surrogates')

const fileShape = z.custom<ReceivedFile>((value) => {
  if (typeof value !== 'object' || value === null) return false
  const { name, read } = value as Partial<ReceivedFile>
  return typeof name === 'string' && name.length <= MAX_NAME && typeof read === 'function'
}, `expected a file with a name of at most ${MAX_NAME} characters and a function to read it`)

const messageShape = z.object({
  chat_id: name.nullable(),
  user_id: name.nullable(),
  message_id: name.min(1),
  text: z.string().max(MAX_CHAT_TEXT),
  thread_id: name.min(1).optional(),
  files: z.array(fileShape).max(MAX_NAMED_FILES).optional(),
})

/** Contract: the message without unknown fields, as one of this channel; throws `usage` if it is no message. */
export function checkChatMessage(channel: string, message: unknown): ChatMessage {
  const { success, data, error } = readSafely(`channel ${channel}`, () => messageShape.safeParse(message))
  if (!success)
    throw new TirelessError('usage', {
      where: `a message of ${channel}`,
      what: describeMismatch(error.issues, message),
    })
  const { thread_id, files, ...rest } = data
  return {
    ...{ ...rest, channel, text: rest.text.toWellFormed().replaceAll('\0', '') },
    ...(thread_id === undefined ? {} : { thread_id }),
    ...(files === undefined || files.length === 0 ? {} : { files }),
  }
}
