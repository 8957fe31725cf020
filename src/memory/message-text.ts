/** Converts messages to text, and truncates text by characters. */

import { truncateText } from '../domain/truncate.ts'
import type { ModelMessage } from '../ports/model.ts'

export function messageText(message: ModelMessage): string {
  if (message.role !== 'assistant') return message.text
  const calls = message.calls.map(({ tool, args }) => `${tool} ${JSON.stringify(args)}`)
  return [message.text, ...calls].filter((line) => line !== '').join('\n')
}

/** At most `limit` characters; a truncated text ends with `…`, and no character is split. */
export function clipCharacters(text: string, limit: number): string {
  return limit < 1 ? '' : truncateText(text, limit, { includesMark: true })
}

/** Removes half of a surrogate pair at either end of the text. */
export function trimHalfCharacters(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
}
