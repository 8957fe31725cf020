/** A chat that shows cards and, if it can, replaces them in place. */

import type { TirelessError } from '../../src/domain/error.ts'
import type { Card, ChannelMessage, MessageAction } from '../../src/domain/message.ts'
import type { Channel } from '../../src/ports/channel.ts'

export interface CardChannel extends Channel {
  /** Every delivery, in order. */
  readonly received: ChannelMessage[]
  /** What is on the screen: by the id that the chat gave. */
  readonly shown: Map<string, ChannelMessage>
  /** Why nothing can be delivered now; a test may change it. */
  problem: TirelessError | null
}

export function cardChannel({ replaces = true } = {}): CardChannel {
  const [received, shown]: [ChannelMessage[], Map<string, ChannelMessage>] = [[], new Map()]
  const chat: CardChannel = {
    ...{ name: 'chat', replaces, received, shown, problem: null, trouble: () => null },
    async deliver(message) {
      if (chat.problem) throw chat.problem
      received.push(message)
      const id = message.replaces ?? `p${shown.size + 1}`
      shown.set(id, message)
      return replaces ? id : undefined
    },
    receive() {
      throw new Error('not used')
    },
  }
  return chat
}

export const visibleCards = ({ shown }: CardChannel): readonly Card[] =>
  [...shown.values()].flatMap(({ card }) => (card ? [card] : []))

export const buttonsOn = (card: Card | undefined): readonly MessageAction[] =>
  card?.items.flatMap(({ actions }) => actions) ?? []
