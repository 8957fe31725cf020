/** MessageSender: queues the messages of agents to people in the outbox; a channel delivers them. */

import type { ReplyTo } from '../domain/reply-to.ts'

/** A question that an agent asked. */
export interface AskedQuestion {
  readonly question: string
  readonly session_id: string
  readonly agent_id: string
}

export interface OutgoingMessage {
  /** Idempotency key: a repeated id is queued once. */
  readonly id: string
  /** A channel or `channel:chat`; null: the owner, at the configured target. */
  readonly to: string | null
  readonly text: string
  /** True: the agent waits for a reply, so quiet hours do not apply. */
  readonly urgent: boolean
  /** The question in it, if it is one. The recipient's channel may show it with other questions. */
  readonly question?: AskedQuestion
  /** Who talks with the agent: they get the message instead of the configured target. Only with `to: null`. */
  readonly replyTo?: readonly ReplyTo[] | undefined
}

export interface MessageSender {
  /** Contract: changes nothing; whether this target reaches the owner and no other person. */
  isOwnerTarget(to: string): boolean
  /** Contract: changes nothing; returns why the target is refused and which targets exist; undefined if accepted. */
  refusal(to: string): string | undefined
  /**
   * Contract: the message is on disk when this resolves with the channel used. Throws `not_found` for an unknown target
   * and lists the channels.
   */
  post(letter: OutgoingMessage): Promise<{ readonly channel: string }>
}
