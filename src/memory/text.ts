/** Turns as text: messages as lines, a text clipped to so many characters, its words. */

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

const WORD =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]+|[[\p{L}\p{M}\p{N}_]--[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]]+/gv
const UNSPACED = /^[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]/v

/** Lower-cased words; where a script puts no space between them, each pair of neighbouring characters. */
export function wordsOf(text: string): string[] {
  return (text.normalize('NFKC').toLowerCase().match(WORD) ?? []).flatMap((run) =>
    UNSPACED.test(run) ? pairs(run) : [run],
  )
}

function pairs(run: string): string[] {
  const characters = [...run]
  if (characters.length < 2) return characters
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}
