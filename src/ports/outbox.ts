/** Outbox: the part of the store with messages to people, and the ids of messages already received from them. */

import type { NewChannelMessage, OutboxMessage, OutboxStatus } from '../domain/message.ts'

export type OutboxOp =
  /**
   * Queues a message, once per id, for delivery from `due` on. If there are too many messages, the oldest finished ones
   * are dropped.
   */
  | { readonly op: 'post'; readonly message: NewChannelMessage; readonly due: number; readonly now: number }
  /** The channel accepted the message. No effect on a finished message. */
  | { readonly op: 'delivered'; readonly id: string; readonly now: number }
  /** Delivery failed; `retry_at` null: give up. No effect on a finished message. */
  | { readonly op: 'undelivered'; readonly id: string; readonly error: string; readonly retry_at: number | null }
  /** Removes a message that was not sent yet and has become pointless. */
  | { readonly op: 'retract'; readonly id: string }
  /**
   * Records an incoming message. A repeated id is a `conflict`: commit this op together with the work that the message
   * starts, so that the work is started once.
   */
  | { readonly op: 'hear'; readonly channel: string; readonly message_id: string; readonly now: number }

export interface OutboxResults {
  post: { readonly duplicate: boolean }
  delivered: null
  undelivered: null
  retract: null
  hear: null
}

/** Delivery statistics of one channel. */
export interface DeliverySummary {
  readonly channel: string
  readonly pending: number
  readonly failed: number
  readonly last_sent_at: string | null
  /** Error of the newest message that was not sent. */
  readonly last_error: string | null
}

export interface OutboxReads {
  /** Contract: newest first. */
  outbox(filter: {
    readonly channel?: string | undefined
    readonly status?: OutboxStatus | undefined
    readonly limit: number
  }): Promise<readonly OutboxMessage[]>
  /**
   * Contract: the first pending and due message of each channel. The cost does not grow with the number of delivered
   * messages.
   */
  dueMessages(now: number): Promise<readonly OutboxMessage[]>
  /** Contract: the earliest due time after `after` of a pending message, if any. */
  nextMessageDue(after: number): Promise<number | undefined>
  /** Contract: one entry per channel with messages in the outbox, by name. */
  deliveries(): Promise<readonly DeliverySummary[]>
}
