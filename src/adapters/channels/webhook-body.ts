/** The JSON body of a message that the webhook channel sends. */

import { readFile, stat } from 'node:fs/promises'
import type { ChannelMessage, MessageFile } from '../../domain/message.ts'

/** A larger file is only named. */
const MAX_FILE_BYTES = 5 * 1024 * 1024

interface SentFile {
  readonly name: string
  readonly size: number | null
  /** Missing: the file is too large, or cannot be read. */
  readonly base64?: string
}

/** `chat_id`: the chat for messages that name no chat. */
export async function webhookBody(message: ChannelMessage, chat_id: string | null): Promise<string> {
  const { id, kind, text, ts, thread_id, card, file, replaces } = message
  return JSON.stringify({
    ...{ id, kind, chat_id: message.chat_id ?? chat_id, text, ts, thread_id, card, replaces },
    ...(file ? { files: [await readSentFile(file)] } : {}),
  })
}

async function readSentFile({ name, path }: MessageFile): Promise<SentFile> {
  try {
    const { size } = await stat(path)
    return size > MAX_FILE_BYTES ? { name, size } : { name, size, base64: await readFile(path, 'base64') }
  } catch {
    return { name, size: null }
  }
}
