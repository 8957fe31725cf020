/** A message to viewers, as long as it is not text. */

import type { Delta } from '../domain/event.ts'

export type LiveMessage =
  | { readonly name: 'event'; readonly line: string }
  | { readonly name: 'delta'; readonly data: Delta }
  | { readonly name: 'status'; readonly data: unknown }

const MAX_JOINED_CHARS = 16 * 1024

/** Contract: joins two consecutive pieces of one run's text; undefined if they cannot be joined. */
export function mergeTextDeltas(before: LiveMessage | undefined, next: LiveMessage): LiveMessage | undefined {
  if (before?.name !== 'delta' || next.name !== 'delta') return undefined
  const [a, b] = [before.data, next.data]
  if (a.kind !== 'text' || b.kind !== 'text' || a.run_id !== b.run_id) return undefined
  return a.text.length + b.text.length > MAX_JOINED_CHARS
    ? undefined
    : { name: 'delta', data: { ...a, text: a.text + b.text } }
}
