/** Message: what goes out to people through a channel, and what comes in from them. */

/** `alert`: its owner has to see to something, at any hour. `reply`: somebody asked. */
export const MESSAGE_KINDS = ['notice', 'digest', 'alert', 'reply'] as const
export type MessageKind = (typeof MESSAGE_KINDS)[number]

export const POSTED_STATUSES = ['pending', 'sent', 'failed'] as const
export type PostedStatus = (typeof POSTED_STATUSES)[number]

/** As a channel is handed it. */
export interface Message {
  /** Stays the same however often it is delivered: whoever is told twice can know it. */
  readonly id: string
  /** Where in the channel; null: where the channel goes by itself. */
  readonly chat_id: string | null
  readonly kind: MessageKind
  readonly text: string
  /** When it was written. */
  readonly ts: string
}

export type NewMessage = Omit<Message, 'ts'> & { readonly channel: string }

/** A message in the outbox, and what has become of it. */
export interface Posted extends Message {
  readonly channel: string
  readonly status: PostedStatus
  /** How often it was tried. */
  readonly attempts: number
  /** Not before. */
  readonly due: string
  readonly sent_at: string | null
  /** Why the last try came to nothing. */
  readonly error: string | null
}

/** What a person said in a chat. */
export interface Heard {
  readonly channel: string
  readonly chat_id: string | null
  readonly user_id: string | null
  /** With the channel's name, its identity: it is acted on once. */
  readonly message_id: string
  readonly text: string
}
