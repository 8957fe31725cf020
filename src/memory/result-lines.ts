/**
 * Picks the most informative lines of call results. They are kept when the turn leaves the window. No model is called.
 * A line scores higher the rarer its pattern and words are among all lines, and for numbers, paths, names and errors.
 */

import { tokenize } from '../domain/tokenize.ts'
import type { PastTurn } from '../ports/memory.ts'
import type { ModelMessage } from '../ports/model.ts'
import { clipCharacters } from './message-text.ts'

interface ResultLine {
  readonly turn: number
  /** The name of the tool, or `event`. */
  readonly source: string
  readonly text: string
  /** 1 if no other line of the same result looks like this line; smaller the more lines do. */
  readonly oddness: number
}

/** Lines that differ only in their numbers: how many there were, and the latest of them, oldest first. */
interface LinePattern {
  readonly times: number
  readonly latest: readonly ResultLine[]
}

/**
 * Lines by pattern. A pattern is the line in lower case with each number as `#`. The most recently added pattern comes
 * last.
 */
export type LinePatterns = ReadonlyMap<string, LinePattern>

const LINE_LIMIT = 240
/** Limits: lines per pattern, patterns in total, patterns per turn. */
const MAX_PER_PATTERN = 24
const MAX_PATTERNS = 1000
const MAX_PER_TURN = 60

export function resultLinesOf({ turn, messages }: PastTurn): LinePatterns {
  const lines = messages.flatMap((message) =>
    extractResults(message).flatMap(({ source, text }) =>
      oddnessOf(splitIntoLines(text)).map(([piece, oddness]): ResultLine => ({ turn, source, text: piece, oddness })),
    ),
  )
  const forms = new Map<string, LinePattern>()
  for (const line of lines) addLine(forms, patternOf(line.text), { times: 1, latest: [line] })
  return keepBestPatterns(forms, MAX_PER_TURN)
}

export function mergeLines(earlier: LinePatterns, later: LinePatterns): LinePatterns {
  const forms = new Map(earlier)
  for (const [form, lines] of later) addLine(forms, form, lines)
  return keepBestPatterns(forms, MAX_PATTERNS)
}

/**
 * Contract: returns the best line of each turn first, then the second best of each turn, …; among equal scores, the
 * newest.
 */
export function mostInformative(forms: LinePatterns): readonly ResultLine[] {
  const lines = [...forms.values()].flatMap(({ times, latest }) => latest.map((line) => ({ line, times })))
  const linesWithWord = new Map<string, number>()
  for (const { line } of lines)
    for (const word of new Set(tokenize(line.text))) linesWithWord.set(word, (linesWithWord.get(word) ?? 0) + 1)
  const ranks = new Map<number, number>()
  return lines
    .map(({ line, times }) => ({ line, weight: scoreOf(line, times) + rarityOf(line.text, linesWithWord) }))
    .sort((a, b) => b.weight - a.weight || b.line.turn - a.line.turn)
    .map(({ line }) => {
      const place = ranks.get(line.turn) ?? 0
      ranks.set(line.turn, place + 1)
      return { line, place }
    })
    .sort((a, b) => a.place - b.place)
    .map(({ line }) => line)
}

/**
 * Each line with its oddness. A result is mostly a list of similar lines; a line that looks different is worth more.
 */
function oddnessOf(pieces: readonly string[]): readonly (readonly [string, number])[] {
  const times = new Map<string, number>()
  const shapes = pieces.map(shapeOf)
  for (const shape of shapes) times.set(shape, (times.get(shape) ?? 0) + 1)
  return pieces.map((piece, i) => [piece, 1 / (times.get(shapes[i] ?? '') ?? 1)])
}

/**
 * The shape of a line's beginning: words, numbers, keys and Chinese text as one symbol each, other characters
 * unchanged.
 */
const shapeOf = (text: string): string =>
  text
    .slice(0, 20)
    .replace(/\p{sc=Han}+/gu, '~')
    .replace(/[\p{L}_]+/gu, 'a')
    .replace(/\p{N}+/gu, '#')
    .replace(/[a#]{2,}/g, 'k')
    .slice(0, 8)

function addLine(forms: Map<string, LinePattern>, form: string, { times, latest }: LinePattern): void {
  const before = forms.get(form)
  const known = before?.latest.filter((line) => !latest.some(({ text }) => text === line.text)) ?? []
  forms.delete(form)
  forms.set(form, { times: times + (before?.times ?? 0), latest: [...known, ...latest].slice(-MAX_PER_PATTERN) })
}

/** Keeps the `max` patterns with the highest scores; among equal scores, the newest. */
function keepBestPatterns(forms: ReadonlyMap<string, LinePattern>, max: number): LinePatterns {
  if (forms.size <= max) return forms
  const kept = [...forms]
    .map(([form, lines], index) => ({ form, index, weight: scoreOf(lines.latest.at(-1), lines.times) }))
    .sort((a, b) => b.weight - a.weight || b.index - a.index)
    .slice(0, max)
  const names = new Set(kept.map(({ form }) => form))
  return new Map([...forms].filter(([form]) => names.has(form)))
}

/** The results and events in a message. The owner's messages are kept elsewhere. */
function extractResults(message: ModelMessage): { readonly source: string; readonly text: string }[] {
  if (message.role === 'assistant') return []
  if (message.role === 'tool') return [{ source: message.tool, text: message.text }]
  const [, source] = /^\[(?:result of |approved: )([^\]\n]+)\] /.exec(message.text) ?? []
  if (source !== undefined) return [{ source, text: message.text }]
  const events = message.text.split('\n').filter((line) => line.startsWith('[event '))
  return events.map((text) => ({ source: 'event', text }))
}

const FENCE = /^<\/?data [0-9a-f]{12}\b/
const HAS_LETTER_OR_DIGIT = /[\p{L}\p{N}]/u

function splitIntoLines(text: string): readonly string[] {
  return text
    .split(/[\r\n\u2028\u2029]+/)
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => HAS_LETTER_OR_DIGIT.test(line) && !FENCE.test(line))
    .flatMap((line) => (line.length <= LINE_LIMIT ? [line] : splitLong(line)))
    .filter(isMoreThanAWord)
}

/** A line of a single word says nothing, unless the word contains a number or is a path. */
const isMoreThanAWord = (line: string): boolean => /[\p{N}/\\_@]/u.test(line) || tokenize(line).length > 1

/** A long line is split after a sentence, a clause or a list item; without any of them, anywhere. */
const BREAK_POINTS = /(?<=[.!?;,]\s)|(?<=[。！？；，])|(?<=[,;](?=["'{[]))/u

function splitLong(line: string): readonly string[] {
  const pieces: string[] = []
  for (const part of line.split(BREAK_POINTS)) {
    const last = pieces.at(-1)
    if (last !== undefined && last.length + part.length <= LINE_LIMIT) pieces[pieces.length - 1] = last + part
    else pieces.push(...hardSplit(part))
  }
  return pieces.map((piece) => piece.trim())
}

function hardSplit(part: string): readonly string[] {
  const count = Math.ceil(part.length / LINE_LIMIT)
  return Array.from({ length: count }, (_, i) => part.slice(i * LINE_LIMIT, (i + 1) * LINE_LIMIT).toWellFormed())
}

const patternOf = (text: string): string => clipCharacters(text.toLowerCase().replace(/\p{N}+/gu, '#'), LINE_LIMIT)

/** Signs of an informative line, with their weights. */
const ERROR_WORD =
  'error|fail(?:ed|ure)?|exception|denied|refused|invalid|missing|not found|cannot|timed? ?out|warning|fatal'
const SIGN_WEIGHTS: readonly (readonly [RegExp, number])[] = [
  [/\p{N}/u, 1],
  [/\p{N}{3,}|\p{N}[.,:]\p{N}/u, 0.5],
  // Sign: a path, an address or a file name.
  [/(?:^|[\s"'(=：:])(?:[\w.-]+)?[/\\][\w.-]+|\w@\w|:\/\/|\b[\w-]+\.[a-z]{2,5}\b/iu, 1],
  [new RegExp(String.raw`\b(?:${ERROR_WORD})\b`, 'iu'), 1.5],
  [/错误|失败|异常|拒绝|无法|不存在|超时|警告|缺少|无效/u, 1.5],
  // Sign: a value with its name, as in `name: value`, `name = value`, 名称：值, 值为.
  [/\S\s?(?:[:=：]|\bis\b|\bare\b|是|为)\s?\S/u, 0.5],
  // Signs: a name, and quoted text.
  [/\p{Ll}\S*\s\p{Lu}\p{Ll}|[A-Z]{2,}[-_]?\d|\b[a-z]+(?:_[a-z0-9]+)+\b|\b[a-z]+[A-Z]\w+/u, 0.5],
  [/["'“「『`][^"'”」』`]{2,}["'”」』`]/u, 0.25],
]
const RARE_PATTERN_WEIGHT = 3
const RARE_WORDS_WEIGHT = 2

const ODDNESS_WEIGHT = 3

/** Score of a line by itself: its signs, the rarity of its pattern, and its oddness within its result. */
function scoreOf({ text = '', oddness = 0 }: Partial<ResultLine> = {}, times: number): number {
  return SIGN_WEIGHTS.reduce(
    (sum, [sign, weight]) => sum + (sign.test(text) ? weight : 0),
    RARE_PATTERN_WEIGHT / times + ODDNESS_WEIGHT * oddness,
  )
}

/** Score of a line among all lines: the average rarity of its words. */
function rarityOf(text: string, linesWithWord: ReadonlyMap<string, number>): number {
  const words = [...new Set(tokenize(text))]
  if (words.length === 0) return 0
  return (RARE_WORDS_WEIGHT * words.reduce((sum, word) => sum + 1 / (linesWithWord.get(word) ?? 1), 0)) / words.length
}
