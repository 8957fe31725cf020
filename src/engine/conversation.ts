/** The messages that the model is shown, with a digest and a size of them that are rolled forward one message at a time. */

import { hash } from 'node:crypto'
import type { Message } from '../ports/model.ts'
import { estimateTokens } from '../prompt/tokens.ts'

export interface Conversation {
  readonly messages: Message[]
  digest: string
  bytes: number
  tokens: number
}

export const emptyConversation = (): Conversation => ({ messages: [], digest: '', bytes: 0, tokens: 0 })

export function say(conversation: Conversation, message: Message): void {
  const text = JSON.stringify(message)
  const { bytes, tokens } = weightOf(text)
  conversation.messages.push(message)
  conversation.digest = hash('sha256', conversation.digest + text)
  conversation.bytes += bytes
  conversation.tokens += tokens
}

export const weightOf = (text: string): { readonly bytes: number; readonly tokens: number } => ({
  bytes: Buffer.byteLength(text),
  tokens: estimateTokens(text),
})

export function restart(messages: readonly Message[]): Conversation {
  const conversation = emptyConversation()
  for (const message of messages) say(conversation, message)
  return conversation
}
