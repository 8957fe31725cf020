/** Message: text that goes to people through a channel, or comes from them. */

/** `alert`: the owner must act; it is sent at any hour. `reply`: the answer to a person's request. */
export const MESSAGE_KINDS = ['notice', 'digest', 'alert', 'reply'] as const
type MessageKind = (typeof MESSAGE_KINDS)[number]

export const OUTBOX_STATUSES = ['pending', 'sent', 'failed'] as const
export type OutboxStatus = (typeof OUTBOX_STATUSES)[number]

/** A message as the channel gets it. */
export interface ChannelMessage {
  /** The id is the same for every delivery attempt, so that the recipient can recognise a duplicate. */
  readonly id: string
  /** The chat within the channel; null: the channel's default chat. */
  readonly chat_id: string | null
  readonly kind: MessageKind
  readonly text: string
  readonly ts: string
}

export type NewChannelMessage = Omit<ChannelMessage, 'ts'> & { readonly channel: string }

/** A message in the outbox, with its delivery status. */
export interface OutboxMessage extends ChannelMessage {
  readonly channel: string
  readonly status: OutboxStatus
  /** Delivery attempts so far. */
  readonly attempts: number
  /** The message is not delivered before this instant. */
  readonly due: string
  readonly sent_at: string | null
  /** The error of the last attempt. */
  readonly error: string | null
}

/** A message from a person in a chat. */
export interface ChatMessage {
  readonly channel: string
  readonly chat_id: string | null
  readonly user_id: string | null
  /** Unique within the channel, so that each message is handled once. */
  readonly message_id: string
  readonly text: string
}
