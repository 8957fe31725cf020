/** What the channel `lark` receives, over the connection or as webhook: which events are messages for the bot. */

import { z } from 'zod'
import type { ChatMessage, ReceivedFile } from '../../../domain/message.ts'
import type { AnsweredRequest, ChannelListener, IncomingRequest, ReceivedMessage } from '../../../ports/channel.ts'
import type { BotThreads } from './bot-threads.ts'
import type { LarkApi } from './lark-api.ts'
import type { ConnectionHandlers } from './long-connection.ts'
import type { LarkFile } from './message-content.ts'
import {
  LARK_MESSAGES,
  type LarkMessage,
  MESSAGE_EVENT,
  PRESS_ANSWER,
  PRESS_EVENT,
  parseMessageEvent,
  parsePressEvent,
} from './parse-event.ts'
import { verifyRequest, type WebhookKeys } from './webhook-request.ts'

const DOWNLOAD_MS = 120_000

/** Contract: an event is acknowledged after the listener has it on disk; messages of one chat keep their order. */
export function eventHandlers(
  api: LarkApi,
  threads: BotThreads,
  listener: ChannelListener,
  signal: AbortSignal,
): ConnectionHandlers {
  const inOrder = createLines()
  return {
    connected: () => listener.connected(),
    events: {
      async [MESSAGE_EVENT](data) {
        const heard = parseMessageEvent(data, api.knownBot()?.open_id)
        if (!heard) return
        // Handed over in order, and not one by one: a command does not wait for the files of an earlier message.
        const handedOver = await inOrder(heard.message.chat_id, async () => {
          const isForBot = await threads.decide(api, heard, signal)
          return { done: isForBot ? listener.receive(withFiles(api, heard)) : undefined }
        })
        await handedOver.done
      },
      async [PRESS_EVENT](data) {
        const pressed = parsePressEvent(data)
        if (!pressed) return
        // Not in order: the person waits for the answer, and Lark for three seconds only.
        await listener.receive(pressed)
        return PRESS_ANSWER
      },
    },
  }
}

type Lines = <T>(chat: string | null, work: () => Promise<T>) => Promise<T>

/** Runs the work of each chat one after the other. */
function createLines(): Lines {
  const last = new Map<string | null, Promise<unknown>>()
  return (chat, work) => {
    const done = (last.get(chat) ?? Promise.resolve()).then(work, work)
    last.set(chat, done)
    const forget = (): void => void (last.get(chat) === done && last.delete(chat))
    done.then(forget, forget)
    return done
  }
}

/** Contract: pure, except that threads with the bot are remembered. Throws `unauthorized` if Lark did not send it. */
export function receiveRequest(
  request: IncomingRequest,
  keys: WebhookKeys,
  api: LarkApi,
  threads: BotThreads,
): ReceivedMessage | AnsweredRequest {
  const verified = verifyRequest(request, keys)
  if (verified.kind === 'challenge') return { answer: { challenge: verified.challenge } }
  const { type, data, proof } = verified
  if (type === PRESS_EVENT) {
    const message = parsePressEvent(data)
    return message ? { message, proof, answer: PRESS_ANSWER } : { answer: {} }
  }
  const heard = type === MESSAGE_EVENT ? parseMessageEvent(data, api.knownBot()?.open_id) : undefined
  return heard && threads.isForBot(heard) ? { message: withFiles(api, heard), proof } : { answer: {} }
}

function withFiles(api: LarkApi, { message, files }: LarkMessage): ChatMessage {
  if (files.length === 0) return message
  return { ...message, files: files.map((file) => receivedFile(api, message.message_id, file)) }
}

const receivedFile = (api: LarkApi, message: string, { key, type, name }: LarkFile): ReceivedFile => ({
  name,
  async read(mostBytes, signal) {
    const url = `${LARK_MESSAGES}/${encodeURIComponent(message)}/resources/${encodeURIComponent(key)}`
    const request = { method: 'GET', url, params: { type }, responseType: 'arraybuffer', most_bytes: mostBytes }
    return api.call({ ...request, timeout: DOWNLOAD_MS }, bytesShape, signal)
  },
})

const bytesShape = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'expected bytes')
