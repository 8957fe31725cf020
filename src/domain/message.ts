/** Message: text that goes to people through a channel, or comes from them. */

/** `alert`: the owner must act; it is sent at any hour. `reply`: the answer to a person's request. */
export const MESSAGE_KINDS = ['notice', 'digest', 'alert', 'reply'] as const
type MessageKind = (typeof MESSAGE_KINDS)[number]

export const OUTBOX_STATUSES = ['pending', 'sent', 'failed'] as const
export type OutboxStatus = (typeof OUTBOX_STATUSES)[number]

/** A button: pressing it has the same effect as sending `command` in the chat. */
export interface MessageAction {
  readonly label: string
  /** A command of the chat, such as `/allow 3f2…`. */
  readonly command: string
  readonly style?: 'primary' | 'danger'
}

/** One thing on a card. */
export interface CardItem {
  readonly id: string
  /** Markdown. */
  readonly text: string
  /** Empty: nothing can be done any more. */
  readonly actions: readonly MessageAction[]
}

/** What needs an answer, with buttons. */
export interface Card {
  readonly title: string
  readonly items: readonly CardItem[]
}

export interface MessageFile {
  /** The name that the recipient sees. */
  readonly name: string
  /** Absolute path on this machine. */
  readonly path: string
  /** The folder that the file must be in, also after links are followed; default: any. */
  readonly root?: string
}

/** A message as the channel gets it. */
export interface ChannelMessage {
  /** The id is the same for every delivery attempt, so that the recipient can recognise a duplicate. */
  readonly id: string
  /** The chat within the channel; null: the channel's default chat. */
  readonly chat_id: string | null
  readonly kind: MessageKind
  /** Markdown. With a card: the same content, for channels without cards. With a file: its caption, or empty. */
  readonly text: string
  readonly ts: string
  /** The thread of the chat in which the message belongs. */
  readonly thread_id?: string
  readonly card?: Card
  /** A file to send. */
  readonly file?: MessageFile
  /** What `deliver` returned for an earlier version of this message, which this version replaces in place. */
  readonly replaces?: string
}

/** A message as it is queued. It is delivered in parts: its text, in as many as the channel needs, then its files. */
export interface NewChannelMessage extends Omit<ChannelMessage, 'ts' | 'file' | 'replaces'> {
  readonly channel: string
  /** Sent after the text. A message with a card has none. */
  readonly files?: readonly MessageFile[]
}

/** A message in the outbox, with its delivery status. */
export interface OutboxMessage extends NewChannelMessage {
  readonly ts: string
  readonly status: OutboxStatus
  /** Delivery attempts so far. */
  readonly attempts: number
  /** The message is not delivered before this instant. */
  readonly due: string
  readonly sent_at: string | null
  /** The error of the last attempt. */
  readonly error: string | null
  /** How many parts of the current version were accepted; the message is sent when all were. */
  readonly parts_sent: number
  /** How often the message was revised. */
  readonly revision: number
  /** The receiver's id of the message, by which a new version replaces it; null: it cannot be replaced. */
  readonly provider_id: string | null
}

/** A message from a person in a chat. */
export interface ChatMessage {
  readonly channel: string
  readonly chat_id: string | null
  readonly user_id: string | null
  /** Unique within the channel, so that each message is handled once. */
  readonly message_id: string
  readonly text: string
  /** The thread of the chat in which it was written. */
  readonly thread_id?: string
  readonly files?: readonly ReceivedFile[]
}

/** A file that a person sent. */
export interface ReceivedFile {
  readonly name: string
  /** Contract: the content; rejects if there are more than `mostBytes`. */
  read(mostBytes: number, signal: AbortSignal): Promise<Uint8Array>
}
