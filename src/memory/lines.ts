/**
 * Lines of results that tell something: what is left of them when their turns are given up. No model is asked. A line counts for more the
 * rarer its form and its words are among all lines, and for what facts are made of: numbers, paths, names, faults.
 */

import { wordsOf } from '../domain/words.ts'
import type { PastTurn } from '../ports/memory.ts'
import type { Message } from '../ports/model.ts'
import { clipped } from './text.ts'

export interface ResultLine {
  readonly turn: number
  /** The tool, or `event`. */
  readonly source: string
  readonly text: string
  /** How little it looks like the other lines of its result: 1 where none begins alike. */
  readonly oddness: number
}

/** Lines that differ in their numbers alone: how many there were, and the latest of them, oldest first. */
export interface LineForm {
  readonly times: number
  readonly latest: readonly ResultLine[]
}

/** By form: the line in lower case, each number as one sign. Those that were last added to come last. */
export type LineForms = ReadonlyMap<string, LineForm>

const LINE_LIMIT = 240
/** Of one form, and forms in all. */
const MOST_ALIKE = 24
const MOST_FORMS = 1000
const MOST_PER_TURN = 60

export function linesOf({ turn, messages }: PastTurn): LineForms {
  const lines = messages.flatMap((message) =>
    resultsIn(message).flatMap(({ source, text }) =>
      oddnessOf(piecesOf(text)).map(([piece, oddness]): ResultLine => ({ turn, source, text: piece, oddness })),
    ),
  )
  const forms = new Map<string, LineForm>()
  for (const line of lines) addTo(forms, formOf(line.text), { times: 1, latest: [line] })
  return bounded(forms, MOST_PER_TURN)
}

export function addLines(earlier: LineForms, later: LineForms): LineForms {
  const forms = new Map(earlier)
  for (const [form, lines] of later) addTo(forms, form, lines)
  return bounded(forms, MOST_FORMS)
}

/** Contract: what tells most of each turn first, then what comes second in each, …; of lines that tell as much, the newest. */
export function mostTelling(forms: LineForms): readonly ResultLine[] {
  const lines = [...forms.values()].flatMap(({ times, latest }) => latest.map((line) => ({ line, times })))
  const holding = new Map<string, number>()
  for (const { line } of lines)
    for (const word of new Set(wordsOf(line.text))) holding.set(word, (holding.get(word) ?? 0) + 1)
  const places = new Map<number, number>()
  return lines
    .map(({ line, times }) => ({ line, weight: weightOf(line, times) + rarityOf(line.text, holding) }))
    .sort((a, b) => b.weight - a.weight || b.line.turn - a.line.turn)
    .map(({ line }) => {
      const place = places.get(line.turn) ?? 0
      places.set(line.turn, place + 1)
      return { line, place }
    })
    .sort((a, b) => a.place - b.place)
    .map(({ line }) => line)
}

/** Each line with its oddness. A result is most often a list of lines that look alike; what does not is worth more than all of them. */
function oddnessOf(pieces: readonly string[]): readonly (readonly [string, number])[] {
  const times = new Map<string, number>()
  const looks = pieces.map(lookOf)
  for (const look of looks) times.set(look, (times.get(look) ?? 0) + 1)
  return pieces.map((piece, i) => [piece, 1 / (times.get(looks[i] ?? '') ?? 1)])
}

/** How a line begins: words, numbers, keys and Chinese as one sign each, the rest as it is. */
const lookOf = (text: string): string =>
  text
    .slice(0, 20)
    .replace(/\p{sc=Han}+/gu, '~')
    .replace(/[\p{L}_]+/gu, 'a')
    .replace(/\p{N}+/gu, '#')
    .replace(/[a#]{2,}/g, 'k')
    .slice(0, 8)

function addTo(forms: Map<string, LineForm>, form: string, { times, latest }: LineForm): void {
  const before = forms.get(form)
  const known = before?.latest.filter((line) => !latest.some(({ text }) => text === line.text)) ?? []
  forms.delete(form)
  forms.set(form, { times: times + (before?.times ?? 0), latest: [...known, ...latest].slice(-MOST_ALIKE) })
}

/** Without the forms that tell least; of those that tell as much, without the oldest. */
function bounded(forms: ReadonlyMap<string, LineForm>, most: number): LineForms {
  if (forms.size <= most) return forms
  const kept = [...forms]
    .map(([form, lines], index) => ({ form, index, weight: weightOf(lines.latest.at(-1), lines.times) }))
    .sort((a, b) => b.weight - a.weight || b.index - a.index)
    .slice(0, most)
  const names = new Set(kept.map(({ form }) => form))
  return new Map([...forms].filter(([form]) => names.has(form)))
}

/** Results and events. What people said is kept whole, by others. */
function resultsIn(message: Message): { readonly source: string; readonly text: string }[] {
  if (message.role === 'assistant') return []
  if (message.role === 'tool') return [{ source: message.tool, text: message.text }]
  const [, source] = /^\[(?:result of |approved: )([^\]\n]+)\] /.exec(message.text) ?? []
  if (source !== undefined) return [{ source, text: message.text }]
  const events = message.text.split('\n').filter((line) => line.startsWith('[event '))
  return events.map((text) => ({ source: 'event', text }))
}

const FENCE = /^<\/?data [0-9a-f]{12}\b/
const SAYS_SOMETHING = /[\p{L}\p{N}]/u

function piecesOf(text: string): readonly string[] {
  return text
    .split(/[\r\n\u2028\u2029]+/)
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => SAYS_SOMETHING.test(line) && !FENCE.test(line))
    .flatMap((line) => (line.length <= LINE_LIMIT ? [line] : splitLong(line)))
    .filter(isMoreThanAWord)
}

/** A word alone tells nothing, unless there is a number or a path in it. */
const isMoreThanAWord = (line: string): boolean => /[\p{N}/\\_@]/u.test(line) || wordsOf(line).length > 1

/** After a sentence, a clause, or the member of a list; where there is none, anywhere. */
const BREAKS = /(?<=[.!?;,]\s)|(?<=[。！？；，])|(?<=[,;](?=["'{[]))/u

function splitLong(line: string): readonly string[] {
  const pieces: string[] = []
  for (const part of line.split(BREAKS)) {
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

const formOf = (text: string): string => clipped(text.toLowerCase().replace(/\p{N}+/gu, '#'), LINE_LIMIT)

/** What a fact is made of. */
const SIGNS: readonly (readonly [RegExp, number])[] = [
  [/\p{N}/u, 1],
  [/\p{N}{3,}|\p{N}[.,:]\p{N}/u, 0.5],
  // A path, an address, a name of a file.
  [/(?:^|[\s"'(=：:])(?:[\w.-]+)?[/\\][\w.-]+|\w@\w|:\/\/|\b[\w-]+\.[a-z]{2,5}\b/iu, 1],
  [
    /\b(?:error|fail(?:ed|ure)?|exception|denied|refused|invalid|missing|not found|cannot|timed? ?out|warning|fatal)\b/iu,
    1.5,
  ],
  [/错误|失败|异常|拒绝|无法|不存在|超时|警告|缺少|无效/u, 1.5],
  // `name: value`, `name = value`, 名称：值, 值为.
  [/\S\s?(?:[:=：]|\bis\b|\bare\b|是|为)\s?\S/u, 0.5],
  // A name, and what stands in quotes.
  [/\p{Ll}\S*\s\p{Lu}\p{Ll}|[A-Z]{2,}[-_]?\d|\b[a-z]+(?:_[a-z0-9]+)+\b|\b[a-z]+[A-Z]\w+/u, 0.5],
  [/["'“「『`][^"'”」』`]{2,}["'”」』`]/u, 0.25],
]
const RARE_FORM = 3
const RARE_WORDS = 2

const ODD = 3

/** By itself: its signs, how rare its form is, and how odd it is in its result. */
function weightOf({ text = '', oddness = 0 }: Partial<ResultLine> = {}, times: number): number {
  return SIGNS.reduce((sum, [sign, weight]) => sum + (sign.test(text) ? weight : 0), RARE_FORM / times + ODD * oddness)
}

/** Among the others: how rare its words are, on the average. */
function rarityOf(text: string, holding: ReadonlyMap<string, number>): number {
  const words = [...new Set(wordsOf(text))]
  if (words.length === 0) return 0
  return (RARE_WORDS * words.reduce((sum, word) => sum + 1 / (holding.get(word) ?? 1), 0)) / words.length
}
