/** What a request is made of, for whoever asks where the tokens go: recorded with it, small, and the same after a crash and in a replay. */

import { hash } from 'node:crypto'
import type { Composition } from '../domain/record.ts'
import type { Message } from '../ports/model.ts'
import { weighConversation, weightOf } from './conversation.ts'
import type { Prefix, Run } from './run.ts'
import type { OpenTurn } from './thread.ts'

/** `prepared`: what this request adds by itself. */
export function compositionOf(
  { thread, model }: Run,
  open: OpenTurn,
  prefix: Prefix,
  prepared: string | undefined,
): Composition {
  const { conversation, asked, recalled } = thread
  const id = hash('sha256', model.id + prefix.digest).slice(0, 12)
  const added = sumOf(prepared === undefined ? [] : [{ role: 'user', text: prepared }])
  const remembered = sumOf(recalled ? [recalled.message] : [])
  // As they are shown: a cut may have shortened them.
  const shown = conversation.messages.slice(conversation.messages.length - open.messages.length)
  const newInput = sumOf(shown.filter((message) => message !== recalled?.message))
  const known = asked?.prefix === id
  const said = weighConversation(conversation)
  const begunAlike =
    known && asked.conversation === conversation ? weighConversation(conversation, asked.length).bytes : 0
  const { cut, dropped } = (recalled?.turn === open.turn && recalled.recalled) || {}
  return {
    sections: {
      ...prefix.sections,
      ...(recalled ? { recalled: remembered.tokens } : {}),
      conversation: said.tokens - remembered.tokens - newInput.tokens,
      input: newInput.tokens + added.tokens,
    },
    bytes: prefix.bytes + said.bytes + added.bytes,
    cached: known ? prefix.bytes + begunAlike : 0,
    prefix: id,
    ...(cut === undefined ? {} : { cut }),
    ...(dropped === undefined ? {} : { dropped }),
  }
}

function sumOf(messages: readonly Message[]): { readonly bytes: number; readonly tokens: number } {
  const weights = messages.map((message) => weightOf(JSON.stringify(message)))
  return {
    bytes: weights.reduce((sum, { bytes }) => sum + bytes, 0),
    tokens: weights.reduce((sum, { tokens }) => sum + tokens, 0),
  }
}
