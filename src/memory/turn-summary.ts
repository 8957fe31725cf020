/**
 * Summary of turns that left the window. Summaries of neighbouring turns can be merged; the result stays limited in
 * size.
 */

import type { PastTurn } from '../ports/memory.ts'
import { loadPrompt } from '../prompts/load-prompt.ts'
import { clipCharacters, messageText } from './message-text.ts'
import { type LinePatterns, mergeLines, mostInformative, resultLinesOf } from './result-lines.ts'

export interface TurnSummary {
  /** Numbers of the first and the last summarised turn. */
  readonly turn: number
  readonly lastTurn: number
  /** Characters of the original messages. */
  readonly size: number
  /** The first message of the user in these turns. */
  readonly request: string
  readonly tools: ReadonlyMap<string, { readonly times: number; readonly ok: boolean }>
  /** The last sentence of each answer; of many answers, only the earliest and the latest. */
  readonly sentences: readonly { readonly turn: number; readonly text: string }[]
  /** Informative lines of the results. */
  readonly lines: LinePatterns
}

const REQUEST_LIMIT = 300
const SENTENCE_LIMIT = 160
const TOOLS_LIMIT = 30
const EARLIEST_SENTENCES = 3
const LATEST_SENTENCES = 20
/** Share of the summary for sentences of answers. They get more if the result lines leave space. */
const SENTENCES_SHARE = 0.3

export function summariseTurn({ turn, messages }: PastTurn): TurnSummary {
  const user = messages.find((message) => message.role === 'user')
  const tools = new Map<string, { times: number; ok: boolean }>()
  for (const message of messages)
    if (message.role === 'tool')
      tools.set(message.tool, { times: (tools.get(message.tool)?.times ?? 0) + 1, ok: message.ok })
  return {
    turn,
    lastTurn: turn,
    size: messages.reduce((sum, message) => sum + messageText(message).length, 0),
    request: clipCharacters(collapseSpaces(user?.text ?? ''), REQUEST_LIMIT),
    tools,
    sentences: messages
      .filter((message) => message.role === 'assistant')
      .map(({ text }) => ({ turn, text: clipCharacters(lastSentence(text), SENTENCE_LIMIT) }))
      .filter(({ text }) => text !== ''),
    lines: resultLinesOf({ turn, messages }),
  }
}

export function mergeSummaries(earlier: TurnSummary, later: TurnSummary): TurnSummary {
  const said = [...earlier.sentences, ...later.sentences]
  return {
    turn: earlier.turn,
    lastTurn: later.lastTurn,
    size: earlier.size + later.size,
    request: earlier.request || later.request,
    tools: mergeTools(earlier.tools, later.tools),
    sentences:
      said.length > EARLIEST_SENTENCES + LATEST_SENTENCES
        ? [...said.slice(0, EARLIEST_SENTENCES), ...said.slice(-LATEST_SENTENCES)]
        : said,
    lines: mergeLines(earlier.lines, later.lines),
  }
}

/** Adds up the uses of each tool and keeps the most recently used tools. */
function mergeTools(earlier: TurnSummary['tools'], later: TurnSummary['tools']): TurnSummary['tools'] {
  const tools = new Map(earlier)
  for (const [tool, { times, ok }] of later) {
    const before = tools.get(tool)?.times ?? 0
    tools.delete(tool)
    tools.set(tool, { times: before + times, ok })
  }
  return new Map([...tools].slice(-TOOLS_LIMIT))
}

/** Contract: returns at most `limit` characters, and always fewer than the original messages had. */
export function renderSummary(gist: TurnSummary, limit: number): string {
  const room = Math.max(0, Math.min(limit, gist.size - 1))
  const tools = [...gist.tools].map(([name, { times, ok }]) => {
    const tool = `${name} ×${times}`
    return ok ? tool : loadPrompt('history/summary.md#tool_failed', { tool })
  })
  const head = [
    loadPrompt('history/summary.md#turns', { first: gist.turn, last: gist.lastTurn }),
    ...(gist.request === '' ? [] : [loadPrompt('history/summary.md#request', { request: gist.request })]),
    ...(tools.length === 0
      ? []
      : [loadPrompt('history/summary.md#tools', { tools: clipCharacters(tools.join(', '), Math.floor(room / 6)) })]),
  ].join('\n')
  const allResults = resultLines(gist)
  const sentences = sentenceLines(gist)
  const left = room - head.length
  const firstSentences = takeFitting(sentences, Math.floor(left * SENTENCES_SHARE))
  const results = takeFitting(allResults, left - lengthOf(firstSentences))
  const shownSentences = takeFitting(sentences, left - lengthOf(results))
  return clipCharacters([head, ...sortByTurn(shownSentences), ...sortByTurn(results)].join('\n'), room)
}

interface SummaryLine {
  readonly turn: number
  readonly text: string
}

/** The sentences by importance: the earliest first, then from the latest backwards. */
function sentenceLines({ sentences: said }: TurnSummary): readonly SummaryLine[] {
  const order = [...said.keys()].sort((a, b) => (a < EARLIEST_SENTENCES || b < EARLIEST_SENTENCES ? a - b : b - a))
  return order.flatMap((index) => {
    const line = said[index]
    return line ? [{ turn: line.turn, text: loadPrompt('history/summary.md#answer', { ...line }) }] : []
  })
}

const resultLines = ({ lines }: TurnSummary): readonly SummaryLine[] =>
  mostInformative(lines).map(({ turn, source, text }) => ({
    turn,
    text: loadPrompt('history/summary.md#result', { turn, source, text }),
  }))

/** Takes lines in the given order, and skips each line that no longer fits as a whole. */
function takeFitting(lines: readonly SummaryLine[], room: number): readonly SummaryLine[] {
  let left = room
  return lines.filter(({ text }) => {
    if (text.length + 1 > left) return false
    left -= text.length + 1
    return true
  })
}

const lengthOf = (lines: readonly SummaryLine[]): number => lines.reduce((sum, { text }) => sum + text.length + 1, 0)

const sortByTurn = (lines: readonly SummaryLine[]): readonly string[] =>
  lines.toSorted((a, b) => a.turn - b.turn).map(({ text }) => text)

function lastSentence(text: string): string {
  const sentences = text.slice(-1000).split(/(?<=[.!?])\s+|(?<=[。！？])|[\r\n]+/)
  return sentences.map(collapseSpaces).findLast((sentence) => sentence !== '') ?? ''
}

function collapseSpaces(text: string): string {
  return text
    .slice(0, 4 * REQUEST_LIMIT)
    .replace(/\s+/g, ' ')
    .trim()
}
