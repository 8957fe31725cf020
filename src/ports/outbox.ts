/** Outbox: the part of the store with messages to people, and the ids of messages already received from them. */

import type { Card, NewChannelMessage, OutboxMessage, OutboxStatus } from '../domain/message.ts'

export type OutboxOp =
  /**
   * Queues a message, once per id, for delivery from `due` on. If there are too many messages, the oldest finished ones
   * are dropped.
   */
  | { readonly op: 'post'; readonly message: NewChannelMessage; readonly due: number; readonly now: number }
  /**
   * Replaces the text and the card of a message: of one that waits before it is sent, of a sent one in its place if the
   * receiver gave it an id. It is delivered from `due` on, and not earlier than it would have been. Any other message
   * is a `conflict`: commit this op together with the note of what the message tells.
   */
  | {
      readonly op: 'revise'
      readonly id: string
      readonly text: string
      readonly card?: Card
      readonly due: number
    }
  /**
   * The channel accepted the first `parts` parts of this revision. `provider_id`: the receiver's id of the message;
   * null: none. No effect on a finished message.
   */
  | {
      readonly op: 'part_sent'
      readonly id: string
      readonly revision: number
      readonly parts: number
      readonly provider_id: string | null
    }
  /**
   * The channel accepted the message. If it was revised since the delivered `revision`, it stays pending. No effect on
   * a finished message.
   */
  | {
      readonly op: 'delivered'
      readonly id: string
      readonly now: number
      readonly revision?: number
      readonly provider_id?: string | null
    }
  /**
   * Delivery failed; `retry_at` null: give up, unless it was revised since the `revision` that failed. No effect on a
   * finished message.
   */
  | {
      readonly op: 'undelivered'
      readonly id: string
      readonly error: string
      readonly retry_at: number | null
      readonly revision?: number
    }
  /** The channel takes no more messages until `retry_at`. It does not count as an attempt. */
  | { readonly op: 'postpone'; readonly id: string; readonly error: string; readonly retry_at: number }
  /** Removes a message that was not sent yet and has become pointless. Drops a revision that was not sent yet. */
  | { readonly op: 'retract'; readonly id: string }
  /**
   * Records an incoming message. A repeated id is a `conflict`: commit this op together with the work that the message
   * starts, so that the work is started once.
   */
  | {
      readonly op: 'hear'
      readonly channel: string
      readonly message_id: string /** Borne out. */
      readonly now: number
    }

export interface OutboxResults {
  post: { readonly duplicate: boolean }
  revise: null
  part_sent: null
  delivered: null
  undelivered: null
  postpone: null
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
   * Contract: the first pending and due message of each channel. Messages of one thread (channel, chat_id and
   * thread_id) keep their order: one whose delivery began holds back the others until it is sent or failed; one that
   * is not due yet and was not tried holds back none. The cost does not grow with the number of delivered messages.
   */
  dueMessages(now: number): Promise<readonly OutboxMessage[]>
  /** Contract: the earliest due time after `after` of a pending message, if any. */
  nextMessageDue(after: number): Promise<number | undefined>
  /** Contract: one entry per channel with messages in the outbox, by name. */
  deliveries(): Promise<readonly DeliverySummary[]>
}
