/** The other side of a channel in its conformance suite: the receiver, and the person who reads and writes there. */

import type { Channel } from '../ports/channel.ts'

/** What a person sees of a message. */
export interface VisibleMessage {
  readonly text: string
  /** The commands of its buttons. */
  readonly commands: readonly string[]
  readonly files: readonly { readonly name: string; readonly content: string }[]
}

export interface ChannelPeer {
  readonly channel: Channel
  /** The texts of the messages that arrived so far. */
  listArrived(): Promise<readonly string[]>
  /** What people see now, oldest first; a message that was replaced is shown in its last version. */
  listVisible?(): Promise<readonly VisibleMessage[]>
  /**
   * Makes the receiver stop answering; missing if the receiver never answers. `reached` resolves when a delivery waits
   * for an answer.
   */
  stopAnswering?(): Promise<{ readonly reached: Promise<unknown> }>
  /** Makes the receiver refuse messages. */
  startRefusing?(): Promise<void>
  /** Makes the receiver refuse messages because there were too many; it says when to come again, in milliseconds. */
  startLimiting?(retryAfterMs: number): Promise<void>
  /** Makes the receiver answer with something that it should not. */
  startGarbage?(): Promise<void>
  /** Writes a file for a test. Contract: its path. */
  writeFile?(name: string, content: string): Promise<string>
  /** A person writes in the chat. Contract: resolves when the channel acknowledged the message. */
  say?(text: string): Promise<void>
  /** Breaks the connection. */
  disconnect?(): Promise<void>
}

export interface ChannelCase {
  readonly name: string
  /** `skip`: called with the reason if the case does not apply. */
  run(side: ChannelPeer, skip?: (why: string) => void): Promise<void>
}
