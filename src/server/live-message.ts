/** A message to viewers, as long as it is not text. */

import type { LiveDelta } from '../domain/event.ts'

export type LiveMessage =
  /** Events of a run, each as a line of JSON. */
  | { readonly name: 'event'; readonly lines: readonly string[] }
  | { readonly name: 'delta'; readonly data: LiveDelta }
  | { readonly name: 'status'; readonly data: unknown }

const MAX_JOINED_CHARS = 16 * 1024

/** Contract: the messages in their order, with consecutive pieces of one text joined. */
export function joinTextDeltas(messages: readonly LiveMessage[]): readonly LiveMessage[] {
  const joined: LiveMessage[] = []
  for (const message of messages) {
    const both = joinTexts(joined.at(-1), message)
    if (both) joined[joined.length - 1] = both
    else joined.push(message)
  }
  return joined
}

/** Contract: undefined if they cannot be joined. */
function joinTexts(before: LiveMessage | undefined, next: LiveMessage): LiveMessage | undefined {
  if (before?.name !== 'delta' || next.name !== 'delta') return undefined
  const [a, b] = [before.data, next.data]
  if (a.kind !== 'text' || b.kind !== 'text' || a.run_id !== b.run_id || a.seq !== b.seq) return undefined
  return a.text.length + b.text.length > MAX_JOINED_CHARS
    ? undefined
    : { name: 'delta', data: { ...a, text: a.text + b.text } }
}
