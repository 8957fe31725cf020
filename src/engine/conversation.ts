/**
 * The messages that the model is shown. Their digest and size are rolled forward one message at a time, and only when they are asked for: a long
 * journal is read without weighing what a cut has taken out of sight since.
 */

import { hash } from 'node:crypto'
import { deepFreeze } from '../domain/json.ts'
import type { Composition } from '../domain/record.ts'
import type { Message } from '../ports/model.ts'
import { estimateTokens } from '../prompt/tokens.ts'

export interface Conversation {
  readonly messages: Message[]
  /** Of the first message, of the first two, and so on, as far as they were asked for. */
  readonly weights: ConversationWeight[]
}

export interface ConversationWeight {
  readonly digest: string
  readonly bytes: number
  readonly tokens: number
}

const WEIGHTLESS: ConversationWeight = { digest: '', bytes: 0, tokens: 0 }

export const newConversation = (messages: readonly Message[] = []): Conversation => ({
  messages: [...messages],
  weights: [],
})

/** Contract: of the first `length` messages. */
export function weighConversation(
  { messages, weights }: Conversation,
  length: number = messages.length,
): ConversationWeight {
  let last = weights.at(-1) ?? WEIGHTLESS
  for (let n = weights.length; n < length; n++) {
    // From here on it counts as said, and models are handed it as it is.
    const text = JSON.stringify(deepFreeze(messages[n]))
    const { bytes, tokens } = weightOf(text)
    last = { digest: hash('sha256', last.digest + text), bytes: last.bytes + bytes, tokens: last.tokens + tokens }
    weights.push(last)
  }
  return weights[length - 1] ?? WEIGHTLESS
}

/** Contract: the first `length` messages are left. */
export function truncateConversation({ messages, weights }: Conversation, length: number): void {
  messages.length = length
  weights.length = Math.min(weights.length, length)
}

/** Contract: tokens of the conversation that a recorded request was made of, where the record says so: then nothing has to be weighed for it. */
export const conversationTokens = ({ sections }: Composition): number | undefined =>
  sections.conversation === undefined
    ? undefined
    : sections.conversation + (sections.recalled ?? 0) + (sections.input ?? 0)

export const weightOf = (text: string): { readonly bytes: number; readonly tokens: number } => ({
  bytes: Buffer.byteLength(text),
  tokens: estimateTokens(text),
})
