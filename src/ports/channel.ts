/** Channel: delivers messages to people and receives messages from them. It sends only messages from the outbox. */

import type { ChannelMessage, ChatMessage } from '../domain/message.ts'

export interface Channel {
  readonly name: string
  /**
   * Contract: returns why delivery is impossible now, without trying it; null if it is possible. Never quotes a secret.
   */
  trouble(): string | null
  /**
   * Contract: resolves when the receiver has accepted the message. The same message may be delivered twice; its id
   * identifies it. Ends soon after `signal` aborts. Rejects with an error that says whether to try again (`retry`,
   * `retryAfterMs`) and quotes neither a secret nor an address.
   */
  deliver(message: ChannelMessage, signal: AbortSignal): Promise<void>
  /** Contract: returns the chat configured by the owner, or null. Messages from that chat count as the owner's. */
  ownChat?(): string | null
  /**
   * Contract: pure. Verifies that the request comes from this channel and is recent, and returns the message of a
   * person; throws `unauthorized` otherwise.
   */
  receive?(request: IncomingRequest): ReceivedMessage
}

/** An HTTP request from another program. */
export interface IncomingRequest {
  /** Keys in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
  readonly now: number
}

export interface ReceivedMessage {
  readonly message: ChatMessage
  /** Identifies the signature, so that a replayed request can be refused. */
  readonly proof: string
}
