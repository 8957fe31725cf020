/** Channel: a way to people and back. What goes out comes from the outbox, and nothing else does. */

import type { Heard, Message } from '../domain/message.ts'

export interface Channel {
  readonly name: string
  /** Contract: why nothing can be delivered by it, here and now, without trying; null where it can. Never quotes a secret. */
  trouble(): string | null
  /**
   * Contract: resolves when the other side has taken the message, which may be one that it was handed before: the id tells. Ends soon after
   * `signal` aborts. Rejects with an error that says whether to try again (`retry`, `retryAfterMs`), and quotes neither secret nor address.
   */
  deliver(message: Message, signal: AbortSignal): Promise<void>
  /** Contract: the chat that the owner's configuration names for it; null where it names none. What is said there counts as his. */
  ownChat?(): string | null
  /** Contract: pure; what a request says, once it is proved that this channel sent it just now, whoever said it there; `unauthorized` otherwise. */
  receive?(request: Incoming): Received
}

/** What another program has sent. */
export interface Incoming {
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
  readonly now: number
}

export interface Received {
  readonly heard: Heard
  /** What proved it, as one word: it proves nothing a second time. */
  readonly proof: string
}
