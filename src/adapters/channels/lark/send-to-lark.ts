/** Sends messages to Lark: as new message, as reply in a thread, in place of an earlier one, or as file. */

import { readFile, stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { z } from 'zod'
import { TirelessError } from '../../../domain/error.ts'
import type { ChannelMessage, MessageFile } from '../../../domain/message.ts'
import { idempotencyKey, type LarkApi } from './lark-api.ts'
import { isMessageGone } from './lark-errors.ts'
import { LARK_MESSAGES } from './parse-event.ts'
import { renderCard } from './render-card.ts'

/** Lark's limit. */
const MOST_FILE_BYTES = 30 * 1024 * 1024

const sentShape = z.object({ data: z.object({ message_id: z.string().min(1).max(200) }) })
const uploadedShape = z.object({ data: z.object({ file_key: z.string().min(1) }) })

interface Content {
  readonly msg_type: 'interactive' | 'file'
  readonly content: string
  /** Lark accepts a message with the same key once within an hour. */
  readonly uuid: string
}

/** Contract: resolves with the id of the message in Lark, by which it can be replaced. */
export async function sendToLark(
  api: LarkApi,
  message: ChannelMessage,
  chat: string,
  signal: AbortSignal,
): Promise<string> {
  const { id, replaces, file, text } = message
  if (replaces !== undefined) return replaceMessage(api, message, chat, signal)
  if (file === undefined) return send(api, message, chat, cardContent(message, id), signal)
  if (text !== '') await send(api, message, chat, cardContent(message, `${id} caption`), signal)
  const content = JSON.stringify({ file_key: await uploadFile(api, file, signal) })
  return send(api, message, chat, { msg_type: 'file', content, uuid: idempotencyKey(id) }, signal)
}

const cardContent = (message: ChannelMessage, key: string): Content => ({
  ...{ msg_type: 'interactive', content: renderCard(message), uuid: idempotencyKey(key) },
})

async function replaceMessage(
  api: LarkApi,
  message: ChannelMessage,
  chat: string,
  signal: AbortSignal,
): Promise<string> {
  const { id, replaces = '' } = message
  const content = renderCard(message)
  try {
    const url = `${LARK_MESSAGES}/${encodeURIComponent(replaces)}`
    await api.call({ method: 'PATCH', url, data: { content } }, z.unknown(), signal)
    return replaces
  } catch (thrown) {
    if (!isMessageGone(thrown)) throw thrown
    // The person deleted it, or it is too old to change: what it says now must still arrive.
    return send(
      api,
      message,
      chat,
      { ...cardContent(message, id), uuid: idempotencyKey(id, replaces, content) },
      signal,
    )
  }
}

async function send(
  api: LarkApi,
  { thread_id }: ChannelMessage,
  chat: string,
  content: Content,
  signal: AbortSignal,
): Promise<string> {
  if (thread_id !== undefined)
    try {
      const url = `${LARK_MESSAGES}/${encodeURIComponent(thread_id)}/reply`
      const data = { ...content, reply_in_thread: true }
      return (await api.call({ method: 'POST', url, data }, sentShape, signal)).data.message_id
    } catch (thrown) {
      // The first message of the thread was deleted: the answer goes to the chat.
      if (!isMessageGone(thrown)) throw thrown
    }
  const request = { method: 'POST', url: LARK_MESSAGES, params: { receive_id_type: idType(chat) } }
  return (await api.call({ ...request, data: { ...content, receive_id: chat } }, sentShape, signal)).data.message_id
}

/** Lark's ids say what they are. */
function idType(chat: string): string {
  if (chat.startsWith('oc_')) return 'chat_id'
  if (chat.startsWith('ou_')) return 'open_id'
  if (chat.startsWith('on_')) return 'union_id'
  return chat.includes('@') ? 'email' : 'user_id'
}

const FILE_TYPES: Readonly<Record<string, string>> = {
  ...{ '.opus': 'opus', '.mp4': 'mp4', '.pdf': 'pdf', '.doc': 'doc', '.docx': 'doc' },
  ...{ '.xls': 'xls', '.xlsx': 'xls', '.ppt': 'ppt', '.pptx': 'ppt' },
}

async function uploadFile(api: LarkApi, { name, path }: MessageFile, signal: AbortSignal): Promise<string> {
  const file = await readSentFile({ name, path })
  const file_type = FILE_TYPES[extname(name).toLowerCase()] ?? 'stream'
  const request = {
    ...{ method: 'POST', url: '/open-apis/im/v1/files', headers: { 'Content-Type': 'multipart/form-data' } },
    data: { file_type, file_name: name, file },
  }
  return (await api.call(request, uploadedShape, signal)).data.file_key
}

async function readSentFile({ name, path }: MessageFile): Promise<Uint8Array> {
  const refused = (what: string): TirelessError => new TirelessError('channel_refused', { what, got: name })
  try {
    const { size } = await stat(path)
    if (size > MOST_FILE_BYTES) throw refused('the file is too large for Lark: more than 30 MB')
    if (size === 0) throw refused('the file is empty, and Lark refuses empty files')
    return await readFile(path)
  } catch (thrown) {
    if (thrown instanceof TirelessError) throw thrown
    throw refused('the file cannot be read')
  }
}
