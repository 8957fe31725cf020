/** Channel: delivers messages to people and receives messages from them. It sends only messages from the outbox. */

import type { Json } from '../domain/json.ts'
import type { ChannelMessage, ChatMessage } from '../domain/message.ts'

export interface Channel {
  readonly name: string
  /**
   * Contract: returns why delivery is impossible now, without trying it; null if it is possible. Never quotes a secret.
   */
  trouble(): string | null
  /**
   * Contract: resolves when the receiver has accepted the message; with its id there, a string, if it can be replaced
   * later (`message.replaces`). The same message may be delivered twice; its id identifies it, and is passed on as the
   * key of the request where the receiver knows such keys. Ends soon after `signal` aborts. Rejects with an error that
   * says whether to try again (`retry`, `retryAfterMs`; `channel_limited` at a rate limit) and quotes neither a secret
   * nor an address.
   */
  deliver(message: ChannelMessage, signal: AbortSignal): Promise<unknown>
  /** Most characters of one message; a longer text is split. Default: no limit. */
  readonly maxText?: number
  /** Whether a delivered message can be replaced in place. */
  readonly replaces?: boolean
  /** Whether files can be sent. */
  readonly sendsFiles?: boolean
  /** Contract: returns the chat configured by the owner, or null. Messages from that chat count as the owner's. */
  ownChat?(): string | null
  /**
   * Contract: asks the receiver whether it can be reached with the configured keys, without sending anything to a
   * person; resolves with what answered (such as the name of the bot). Rejects with an error that says what to do.
   */
  probe?(signal: AbortSignal): Promise<string>
  /**
   * Contract: receives messages until `signal` aborts, then resolves. Rejects when the connection is lost or cannot be
   * made; the kernel connects again, later each time.
   */
  connect?(listener: ChannelListener, signal: AbortSignal): Promise<void>
  /**
   * Contract: pure. Verifies that the request comes from this channel and is recent, and returns the message of a
   * person, or what to answer to a request that has none; throws `unauthorized` otherwise.
   */
  receive?(request: IncomingRequest): ReceivedMessage | AnsweredRequest
  /** Contract: pure; the most bytes of the body of a request with these headers. Default: the server's own limit. */
  mostBytes?(headers: IncomingRequest['headers'], now: number): number | undefined
}

/** Gets what a connection receives. */
export interface ChannelListener {
  /** The connection is made, and messages may arrive. */
  connected(): void
  /** Contract: resolves when the result is on disk: acknowledge the message then. Rejects if it has to come again. */
  receive(message: ChatMessage): Promise<{ readonly duplicate: boolean }>
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
  /** The body of the answer; default: what was done with the message. */
  readonly answer?: Json
}

/** A verified request without a message, such as the check of an address. */
export interface AnsweredRequest {
  readonly message?: undefined
  readonly answer: Json
}
