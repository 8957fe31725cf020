/** Reads the events of Lark: a message of a person, or a pressed button. Written by anyone. */

import { z } from 'zod'
import type { ChatMessage } from '../../../domain/message.ts'
import { type LarkFile, readLarkContent } from './message-content.ts'

export const LARK = 'lark'
export const MESSAGE_EVENT = 'im.message.receive_v1'
export const PRESS_EVENT = 'card.action.trigger'
/** The path of messages in Lark's API. */
export const LARK_MESSAGES = '/open-apis/im/v1/messages'
/** The longest text that is passed on. */
const MOST_TEXT = 100_000

/** A message of a person, before it is decided whether it is for the bot. */
export interface LarkMessage {
  readonly message: Omit<ChatMessage, 'files'>
  readonly files: readonly LarkFile[]
  /** `group`: in a group, without a mention of the bot. */
  readonly addressed: 'private' | 'mentioned' | 'group'
}

const id = z.string().min(1).max(200)
const optionalId = id.nullish().catch(undefined)
const idsShape = z.object({ open_id: optionalId, union_id: optionalId, user_id: optionalId }).catch({})
const mentionShape = z.object({ key: z.string(), id: idsShape, name: z.string().catch('') })

const messageEventShape = z.object({
  sender: z.object({ sender_id: idsShape, sender_type: z.string() }),
  message: z.object({
    message_id: id,
    root_id: optionalId,
    thread_id: optionalId,
    chat_id: id,
    chat_type: z.string(),
    message_type: z.string(),
    content: z.string(),
    mentions: z.array(mentionShape).nullish().catch([]),
  }),
})

/**
 * Contract: pure; never throws. Undefined: no message, or not one of a person. `bot`: the bot's open_id; if it is not
 * known yet, any mention counts.
 */
export function parseMessageEvent(data: unknown, bot: string | undefined): LarkMessage | undefined {
  const event = messageEventShape.safeParse(data).data
  // Other bots and this one are `app`: two programs must not answer each other.
  if (event?.sender.sender_type !== 'user') return undefined
  const { message, sender } = event
  const mentions = message.mentions ?? []
  const { text, files } = readLarkContent(message.message_type, message.content)
  const thread = message.thread_id ? (message.root_id ?? message.message_id) : undefined
  const isMentioned = mentions.some(({ id: { open_id } }) => bot === undefined || open_id === bot)
  const isPrivate = message.chat_type === 'p2p'
  return {
    message: {
      ...{ channel: LARK, chat_id: message.chat_id, user_id: firstId(sender.sender_id) },
      message_id: message.message_id,
      text: showMentions(text, mentions, bot).slice(0, MOST_TEXT).toWellFormed(),
      ...(thread === undefined ? {} : { thread_id: thread }),
    },
    files,
    addressed: isPrivate ? 'private' : isMentioned ? 'mentioned' : 'group',
  }
}

/** `@_user_1` becomes `@name`; the mention of the bot vanishes, so that a command after it is one. */
function showMentions(
  text: string,
  mentions: readonly z.output<typeof mentionShape>[],
  bot: string | undefined,
): string {
  const names = new Map(mentions.map(({ key, name, id: { open_id } }) => [key, open_id === bot ? '' : `@${name}`]))
  return text.replace(/@_(?:user_\d+|all)/g, (mark) => names.get(mark) ?? mark).trim()
}

const firstId = ({ open_id, union_id, user_id }: z.output<typeof idsShape>): string | null =>
  open_id ?? union_id ?? user_id ?? null

const pressShape = z.object({
  event_id: id,
  operator: idsShape,
  action: z.object({ value: z.object({ command: z.string().max(1000).startsWith('/'), thread: optionalId }) }),
  context: z.object({ open_chat_id: id }),
})

/** Contract: pure; never throws. Undefined: no button of a card of this program. */
export function parsePressEvent(data: unknown): ChatMessage | undefined {
  const event = pressShape.safeParse(data).data
  if (!event) return undefined
  const { command, thread } = event.action.value
  return {
    ...{ channel: LARK, chat_id: event.context.open_chat_id, user_id: firstId(event.operator) },
    ...{ message_id: event.event_id, text: command },
    ...(thread ? { thread_id: thread } : {}),
  }
}

/** What the person sees for a moment after pressing a button; the result comes as a message. */
export const PRESS_ANSWER = {
  toast: { type: 'info', content: 'Received', i18n: { zh_cn: '已收到', en_us: 'Received' } },
}
