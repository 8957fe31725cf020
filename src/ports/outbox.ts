/** Outbox: the part of the store that holds what people are told until it is delivered, and knows what was heard of them already. */

import type { NewMessage, Posted, PostedStatus } from '../domain/message.ts'

export type OutboxOp =
  /** Once per id, to be delivered from `due` on. Of those that are over, the oldest are dropped where they are too many. */
  | { readonly op: 'post'; readonly message: NewMessage; readonly due: number; readonly now: number }
  /** Somebody has taken it. One that is over stays as it is. */
  | { readonly op: 'delivered'; readonly id: string; readonly now: number }
  /** Nobody has taken it, as far as is known; null: it is given up. One that is over stays as it is. */
  | { readonly op: 'undelivered'; readonly id: string; readonly error: string; readonly retry_at: number | null }
  /** A word that came in by a channel, once: the second time is a `conflict`, so commit it with what comes of it. */
  | { readonly op: 'hear'; readonly channel: string; readonly message_id: string; readonly now: number }

export interface OutboxResults {
  post: { readonly duplicate: boolean }
  delivered: null
  undelivered: null
  hear: null
}

/** A channel's messages at a glance. */
export interface Deliveries {
  readonly channel: string
  readonly pending: number
  readonly failed: number
  readonly last_sent_at: string | null
  /** Of the newest one that is not sent. */
  readonly last_error: string | null
}

export interface OutboxReads {
  /** Contract: newest first. */
  outbox(filter: {
    readonly channel?: string | undefined
    readonly status?: PostedStatus | undefined
    readonly limit: number
  }): Promise<readonly Posted[]>
  /** Contract: of what is pending and due, each channel's first. Costs the same however much was delivered. */
  dueMessages(now: number): Promise<readonly Posted[]>
  /** Contract: the earliest instant after `after` at which something pending is due, if there is one. */
  nextMessage(after: number): Promise<number | undefined>
  /** Contract: of every channel that was ever posted to and is remembered, by name. */
  deliveries(): Promise<readonly Deliveries[]>
}
