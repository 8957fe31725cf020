/** Outbox: the part of the store with messages to people, and the ids of messages already received from them. */

import type { NewChannelMessage, OutboxMessage, OutboxStatus } from '../domain/message.ts'

export type OutboxOp =
  /** Once per id; delivered from `due` on. Drops the oldest finished messages when there are too many. */
  | { readonly op: 'post'; readonly message: NewChannelMessage; readonly due: number; readonly now: number }
  /** The channel accepted it. No effect on a finished message. */
  | { readonly op: 'delivered'; readonly id: string; readonly now: number }
  /** Delivery failed; `retry_at` null: give up. No effect on a finished message. */
  | { readonly op: 'undelivered'; readonly id: string; readonly error: string; readonly retry_at: number | null }
  /** An incoming message; a repeated id is a `conflict`, so commit it together with its consequences. */
  | { readonly op: 'hear'; readonly channel: string; readonly message_id: string; readonly now: number }

export interface OutboxResults {
  post: { readonly duplicate: boolean }
  delivered: null
  undelivered: null
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
  /** Contract: the first pending and due message of each channel. Cost does not grow with delivered messages. */
  dueMessages(now: number): Promise<readonly OutboxMessage[]>
  /** Contract: the earliest due time after `after` of a pending message, if any. */
  nextMessageDue(after: number): Promise<number | undefined>
  /** Contract: one entry per channel with messages in the outbox, by name. */
  deliveries(): Promise<readonly DeliverySummary[]>
}
