/** Gist: what is left of turns when they are given up. Gists of neighbouring turns add up to one, which stays bounded. */

import type { PastTurn } from '../ports/memory.ts'
import { addLines, type LineForms, linesOf, mostTelling } from './lines.ts'
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
  /** What the results said. */
  readonly lines: LineForms
}

const REQUEST_LIMIT = 300
const SAID_LIMIT = 160
const TOOLS_LIMIT = 30
const EARLIEST = 3
const LATEST = 20
/** What the answers said takes at most this share, unless the results leave more. */
const SAID_SHARE = 0.3

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
    lines: linesOf({ turn, messages }),
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
    lines: addLines(earlier.lines, later.lines),
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
    ...(tools.length === 0 ? [] : [`Tools used: ${clipped(tools.join(', '), Math.floor(room / 6))}`]),
  ].join('\n')
  const told = toldLines(gist)
  const said = saidLines(gist)
  const left = room - head.length
  const atFirst = within(said, Math.floor(left * SAID_SHARE))
  const results = within(told, left - sizeOf(atFirst))
  const saidToo = within(said, left - sizeOf(results))
  return clipped([head, ...inOrder(saidToo), ...inOrder(results)].join('\n'), room)
}

interface GistLine {
  readonly turn: number
  readonly text: string
}

/** The earliest and then the latest. */
function saidLines({ said }: Gist): readonly GistLine[] {
  const order = [...said.keys()].sort((a, b) => (a < EARLIEST || b < EARLIEST ? a - b : b - a))
  return order.flatMap((index) => {
    const line = said[index]
    return line ? [{ turn: line.turn, text: `Turn ${line.turn}: ${line.text}` }] : []
  })
}

const toldLines = ({ lines }: Gist): readonly GistLine[] =>
  mostTelling(lines).map(({ turn, source, text }) => ({ turn, text: `Turn ${turn}, ${source}: ${text}` }))

/** The first that fit, whole. */
function within(lines: readonly GistLine[], room: number): readonly GistLine[] {
  let left = room
  return lines.filter(({ text }) => {
    if (text.length + 1 > left) return false
    left -= text.length + 1
    return true
  })
}

const sizeOf = (lines: readonly GistLine[]): number => lines.reduce((sum, { text }) => sum + text.length + 1, 0)

const inOrder = (lines: readonly GistLine[]): readonly string[] =>
  lines.toSorted((a, b) => a.turn - b.turn).map(({ text }) => text)

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
