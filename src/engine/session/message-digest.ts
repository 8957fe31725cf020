/**
 * The messages that the model is shown, with digest and size. Both are computed per message and on demand, so that
 * loading a long journal does not measure messages that a cut has removed.
 */

import { hash } from 'node:crypto'
import type { PromptComposition } from '../../domain/journal-record.ts'
import { deepFreeze } from '../../domain/json.ts'
import type { ModelMessage } from '../../ports/model.ts'
import { estimateTokens } from '../../prompt-compiler/tokens.ts'

export interface Conversation {
  readonly messages: ModelMessage[]
  /** Digest and size of the first message, of the first two messages, and so on, as far as computed. */
  readonly weights: ConversationWeight[]
}

interface ConversationWeight {
  readonly digest: string
  readonly bytes: number
  readonly tokens: number
}

const ZERO_WEIGHT: ConversationWeight = { digest: '', bytes: 0, tokens: 0 }

export const newConversation = (messages: readonly ModelMessage[] = []): Conversation => ({
  messages: [...messages],
  weights: [],
})

/** Contract: returns digest and size of the first `length` messages. */
export function measureConversation(
  { messages, weights }: Conversation,
  length: number = messages.length,
): ConversationWeight {
  let last = weights.at(-1) ?? ZERO_WEIGHT
  for (let n = weights.length; n < length; n++) {
    // Frozen, because models receive the message itself.
    const text = JSON.stringify(deepFreeze(messages[n]))
    const { bytes, tokens } = weighText(text)
    last = { digest: hash('sha256', last.digest + text), bytes: last.bytes + bytes, tokens: last.tokens + tokens }
    weights.push(last)
  }
  return weights[length - 1] ?? ZERO_WEIGHT
}

/** Contract: keeps the first `length` messages. */
export function truncateConversation({ messages, weights }: Conversation, length: number): void {
  messages.length = length
  weights.length = Math.min(weights.length, length)
}

/** Contract: tokens of the conversation in a recorded request; undefined for records without this number. */
export const conversationTokens = ({ sections }: PromptComposition): number | undefined =>
  sections.conversation === undefined
    ? undefined
    : sections.conversation + (sections.recalled ?? 0) + (sections.input ?? 0)

export const weighText = (text: string): { readonly bytes: number; readonly tokens: number } => ({
  bytes: Buffer.byteLength(text),
  tokens: estimateTokens(text),
})
