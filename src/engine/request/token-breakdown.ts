/**
 * The token breakdown of a request: tokens by section. It is recorded with the request and is the same after a crash
 * and in a replay.
 */

import { hash } from 'node:crypto'
import type { PromptComposition } from '../../domain/journal-record.ts'
import type { ModelMessage } from '../../ports/model.ts'
import type { PromptPrefix, Run } from '../run.ts'
import { measureConversation, weighText } from '../session/message-digest.ts'
import type { OpenTurn } from '../session/session-thread.ts'

/** `prepared`: text of the behaviour's prepare(), which is part of this request only. */
export function buildComposition(
  { thread, model }: Run,
  open: OpenTurn,
  prefix: PromptPrefix,
  prepared: string | undefined,
): PromptComposition {
  const { conversation, lastRequest: asked, recalled } = thread
  const id = requestId(prefix, model.id)
  const addedWeight = totalWeight(prepared === undefined ? [] : [{ role: 'user', text: prepared }])
  const factsWeight = totalWeight(recalled ? [recalled.message] : [])
  // Take the messages of this turn from the conversation, because a cut may have shortened them.
  const shown = conversation.messages.slice(conversation.messages.length - open.messages.length)
  const newInput = totalWeight(shown.filter((message) => message !== recalled?.message))
  const isSamePrefix = asked?.prefix === id
  const conversationWeight = measureConversation(conversation)
  const sharedBytes =
    isSamePrefix && asked.conversation === conversation ? measureConversation(conversation, asked.length).bytes : 0
  const { cut, dropped } = (recalled?.turn === open.turn && recalled.recalled) || {}
  return {
    sections: {
      ...prefix.sections,
      ...(recalled ? { recalled: factsWeight.tokens } : {}),
      conversation: conversationWeight.tokens - factsWeight.tokens - newInput.tokens,
      input: newInput.tokens + addedWeight.tokens,
    },
    bytes: prefix.bytes + conversationWeight.bytes + addedWeight.bytes,
    cached: isSamePrefix ? prefix.bytes + sharedBytes : 0,
    prefix: id,
    ...(cut === undefined ? {} : { cut }),
    ...(dropped === undefined ? {} : { dropped }),
  }
}

/** Cache of the last id of each prefix. The id of a run's requests changes only when a fallback model takes over. */
const lastIds = new WeakMap<PromptPrefix, { readonly model: string; readonly id: string }>()

function requestId(prefix: PromptPrefix, model: string): string {
  const last = lastIds.get(prefix)
  if (last?.model === model) return last.id
  const id = hash('sha256', model + prefix.digest).slice(0, 12)
  lastIds.set(prefix, { model, id })
  return id
}

function totalWeight(messages: readonly ModelMessage[]): { readonly bytes: number; readonly tokens: number } {
  const weights = messages.map((message) => weighText(JSON.stringify(message)))
  return {
    bytes: weights.reduce((sum, { bytes }) => sum + bytes, 0),
    tokens: weights.reduce((sum, { tokens }) => sum + tokens, 0),
  }
}
