/** A channel with a long connection that the test controls. */

import type { ChannelMessage, ChatMessage } from '../../src/domain/message.ts'
import type { Channel, ChannelListener } from '../../src/ports/channel.ts'

export interface OpenedConnection {
  readonly listener: ChannelListener
  readonly signal: AbortSignal
  /** Ends the connection, as a network does. */
  lose(error?: unknown): void
  /** The channel's `connect` returns. */
  end(): void
}

export interface ConnectingChannel extends Channel {
  /** One entry for each call of `connect`. */
  readonly opened: OpenedConnection[]
  readonly received: ChannelMessage[]
  /** Runs at the beginning of `connect`. */
  onConnect: (connection: OpenedConnection) => void
  onDeliver: () => unknown
}

export function connectingChannel(name = 'chat'): ConnectingChannel {
  const channel: ConnectingChannel = {
    ...{ name, opened: [], received: [], trouble: () => null, onDeliver: () => undefined },
    onConnect: ({ listener }) => listener.connected(),
    connect(listener, signal) {
      const over = Promise.withResolvers<void>()
      const connection = {
        ...{ listener, signal, end: () => over.resolve() },
        lose: (error: unknown = new Error('the network is gone')) => over.reject(error),
      }
      channel.opened.push(connection)
      signal.addEventListener('abort', () => over.resolve())
      channel.onConnect(connection)
      return over.promise
    },
    async deliver(message) {
      channel.received.push(message)
      await channel.onDeliver()
    },
  }
  return channel
}

export const chatMessage = (text: string, more: Partial<ChatMessage> = {}): ChatMessage => ({
  ...{ channel: 'chat', chat_id: 'c9', user_id: 'u', message_id: text, text, ...more },
})
