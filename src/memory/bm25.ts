/**
 * Ranks passages by their relevance to a question (BM25). Words are counted anew for each question, so that only the
 * texts are kept in memory.
 */

import { tokenize } from '../domain/tokenize.ts'
import type { PastTurn } from '../ports/memory.ts'
import type { ModelMessage } from '../ports/model.ts'
import { clipCharacters, messageText, trimHalfCharacters } from './message-text.ts'
import { mostInformative, resultLinesOf } from './result-lines.ts'

export interface Passage {
  readonly turn: number
  readonly text: string
  /** The words of the text, each between two spaces. */
  readonly words: string
  readonly count: number
}

const MESSAGE_LIMIT = 600
const PASSAGE_LIMIT = 1600
const SNIPPET_LIMIT = 400
const QUESTION_LIMIT = 32
/** The usual constants of BM25: saturation of repeated words, penalty for long passages. */
const K1 = 1.2
const B = 0.75

export function passageFromTurn({ turn, messages }: PastTurn): Passage {
  const text = clipCharacters(
    messages.map((message) => clipCharacters(informativeText(message, turn), MESSAGE_LIMIT)).join('\n'),
    PASSAGE_LIMIT,
  )
  const words = tokenize(text)
  return { turn, text, words: ` ${words.join('  ')} `, count: words.length }
}

/** A short text as it is; of a long result the most informative lines instead of its beginning. */
function informativeText(message: ModelMessage, turn: number): string {
  const text = messageText(message)
  if (message.role === 'assistant' || text.length <= MESSAGE_LIMIT) return text
  const lines = mostInformative(resultLinesOf({ turn, messages: [message] })).map((line) => line.text)
  return lines.length === 0 ? text : lines.join('\n')
}

/** Contract: returns at most `limit` snippets of the best passages, in order of turn. */
export function rankPassages(passages: readonly Passage[], question: string, limit: number): string[] {
  const queryWords = [...new Set(tokenize(question.slice(0, PASSAGE_LIMIT)))].slice(0, QUESTION_LIMIT)
  const mean = passages.reduce((sum, passage) => sum + passage.count, 0) / passages.length
  const scored = passages.map((passage) => ({ passage, score: 0, word: '', weight: 0 }))
  for (const word of queryWords) {
    const times = passages.map((passage) => countOccurrences(passage.words, ` ${word} `))
    const containing = times.filter((n) => n > 0).length
    const weight = Math.log(1 + (passages.length - containing + 0.5) / (containing + 0.5))
    for (const [index, entry] of scored.entries()) {
      const n = times[index] ?? 0
      if (n === 0) continue
      entry.score += (weight * n * (K1 + 1)) / (n + K1 * (1 - B + (B * entry.passage.count) / mean))
      if (weight > entry.weight) Object.assign(entry, { word, weight })
    }
  }
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || b.passage.turn - a.passage.turn)
    .slice(0, limit)
    .sort((a, b) => a.passage.turn - b.passage.turn)
    .map(({ passage, word }) => snippet(passage, word))
}

function countOccurrences(words: string, word: string): number {
  let times = 0
  for (let at = words.indexOf(word); at >= 0; at = words.indexOf(word, at + word.length)) times++
  return times
}

/** The part of the passage around `word`, the rarest word of the question in it. */
function snippet({ turn, text }: Passage, word: string): string {
  const mark = `[turn ${turn}] `
  const room = SNIPPET_LIMIT - mark.length
  const at = text.length <= room ? 0 : Math.max(0, text.toLowerCase().indexOf(word) - Math.floor(room / 4))
  const shown = at === 0 ? text : `…${trimHalfCharacters(text.slice(at))}`
  return mark + clipCharacters(shown, room)
}
