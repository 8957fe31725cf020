/** Gist: what is left of turns when they are given up. Gists of neighbouring turns add up to one, which stays bounded. */

import type { PastTurn } from '../ports/memory.ts'
import { clipped, messageText } from './text.ts'

export interface Gist {
  /** The first and the last turn. */
  readonly turn: number
  readonly last: number
  /** Characters of the turns themselves. */
  readonly size: number
  /** What the user wanted first. */
  readonly request: string
  readonly tools: ReadonlyMap<string, { readonly times: number; readonly ok: boolean }>
  /** How the answers ended: the earliest, and the latest. */
  readonly said: readonly { readonly turn: number; readonly text: string }[]
}

const REQUEST_LIMIT = 300
const SAID_LIMIT = 160
const TOOLS_LIMIT = 30
const EARLIEST = 3
const LATEST = 20

export function gistOf({ turn, messages }: PastTurn): Gist {
  const user = messages.find((message) => message.role === 'user')
  const tools = new Map<string, { times: number; ok: boolean }>()
  for (const message of messages)
    if (message.role === 'tool')
      tools.set(message.tool, { times: (tools.get(message.tool)?.times ?? 0) + 1, ok: message.ok })
  return {
    turn,
    last: turn,
    size: messages.reduce((sum, message) => sum + messageText(message).length, 0),
    request: clipped(oneLine(user?.text ?? ''), REQUEST_LIMIT),
    tools,
    said: messages
      .filter((message) => message.role === 'assistant')
      .map(({ text }) => ({ turn, text: clipped(lastSentence(text), SAID_LIMIT) }))
      .filter(({ text }) => text !== ''),
  }
}

export function added(earlier: Gist, later: Gist): Gist {
  const said = [...earlier.said, ...later.said]
  return {
    turn: earlier.turn,
    last: later.last,
    size: earlier.size + later.size,
    request: earlier.request || later.request,
    tools: addedTools(earlier.tools, later.tools),
    said: said.length > EARLIEST + LATEST ? [...said.slice(0, EARLIEST), ...said.slice(-LATEST)] : said,
  }
}

/** Those used last are kept. */
function addedTools(earlier: Gist['tools'], later: Gist['tools']): Gist['tools'] {
  const tools = new Map(earlier)
  for (const [tool, { times, ok }] of later) {
    const before = tools.get(tool)?.times ?? 0
    tools.delete(tool)
    tools.set(tool, { times: before + times, ok })
  }
  return new Map([...tools].slice(-TOOLS_LIMIT))
}

/** Within `limit` characters, and always shorter than the turns. */
export function gistText(gist: Gist, limit: number): string {
  const room = Math.max(0, Math.min(limit, gist.size - 1))
  const tools = [...gist.tools].map(([tool, { times, ok }]) => `${tool} ×${times}${ok ? '' : ' (last one failed)'}`)
  const head = [
    `Turns ${gist.turn} to ${gist.last}, in short.`,
    ...(gist.request === '' ? [] : [`First request: ${gist.request}`]),
    ...(tools.length === 0 ? [] : [`Tools used: ${clipped(tools.join(', '), Math.floor(limit / 3))}`]),
  ].join('\n')
  return clipped([head, ...fitting(gist, room - head.length)].join('\n'), room)
}

/** The earliest and then the latest that fit, in order of turn. */
function fitting({ said }: Gist, room: number): string[] {
  const lines = said.map(({ turn, text }) => `Turn ${turn}: ${text}`)
  const order = [...lines.keys()].sort((a, b) => (a < EARLIEST || b < EARLIEST ? a - b : b - a))
  const kept = new Set<number>()
  let left = room
  for (const index of order) {
    left -= (lines[index]?.length ?? 0) + 1
    if (left < 0) break
    kept.add(index)
  }
  return lines.filter((_, index) => kept.has(index))
}

function lastSentence(text: string): string {
  const sentences = text.slice(-1000).split(/(?<=[.!?])\s+|(?<=[。！？])|[\r\n]+/)
  return sentences.map(oneLine).findLast((sentence) => sentence !== '') ?? ''
}

function oneLine(text: string): string {
  return text
    .slice(0, 4 * REQUEST_LIMIT)
    .replace(/\s+/g, ' ')
    .trim()
}
