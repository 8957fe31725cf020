/** The messages that the model is shown, and a digest of them that is rolled forward one message at a time. */

import { hash } from 'node:crypto'
import type { Message } from '../ports/model.ts'

export interface Conversation {
  readonly messages: Message[]
  digest: string
}

export const emptyConversation = (): Conversation => ({ messages: [], digest: '' })

export function say(conversation: Conversation, message: Message): void {
  conversation.messages.push(message)
  conversation.digest = hash('sha256', conversation.digest + JSON.stringify(message))
}

export function restart(messages: readonly Message[]): Conversation {
  const conversation = emptyConversation()
  for (const message of messages) say(conversation, message)
  return conversation
}
