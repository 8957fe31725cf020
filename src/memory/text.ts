/** Turns as text: messages as lines, a text clipped to so many characters. */

import type { Message } from '../ports/model.ts'

export function messageText(message: Message): string {
  if (message.role !== 'assistant') return message.text
  const calls = message.calls.map(({ tool, args }) => `${tool} ${JSON.stringify(args)}`)
  return [message.text, ...calls].filter((line) => line !== '').join('\n')
}

/** At most `limit` characters, the cut marked and no character split. */
export function clipped(text: string, limit: number): string {
  if (text.length <= limit) return text
  return limit < 1 ? '' : `${whole(text.slice(0, limit - 1))}…`
}

/** Without the halves of characters at its ends. */
export function whole(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
}
