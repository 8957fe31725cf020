/**
 * Where in a text known values stand, in any of their forms, however lines were broken or escapes put on top of one another.
 *
 * A text is read without what wrapping and escaping put into it (blanks, backslashes, the n, r and t behind these); short forms have to
 * stand there letter for letter all the same. Three letters of a beginning are looked up in a table, six in a map, and only then is
 * anything compared: a text without secrets costs one look per letter. Of a long form its pieces are known too, so that a part of it is found.
 */

import { formsOf } from './forms.ts'

export interface Named {
  readonly name: string
  readonly value: string
}

export interface Range {
  readonly from: number
  readonly to: number
  readonly name: string
}

export interface Found {
  /** In order, none touching another. */
  readonly ranges: readonly Range[]
  /** From here on the text could be the beginning of something that it does not hold all of. */
  readonly open: number
}

/** Fewer letters than this are found in every other word. */
export const FEWEST_LETTERS = 6
/** Shorter forms have to stand in the text exactly. */
const SHORTEST_LOOSE = 16
const LONGEST_WHOLE = 64
const PIECE = 32
const TABLE_BITS = 18

interface Form {
  readonly name: string
  /** Its letters. */
  readonly letters: string
  /** Where it is short: what has to stand in the text. */
  readonly exact: string | undefined
}

/** So many letters of a form, from one of them on. */
interface Piece {
  readonly form: Form
  readonly at: number
  readonly length: number
}

export class Finder {
  readonly #table = new Uint8Array(1 << TABLE_BITS)
  readonly #pieces = new Map<string, Piece[]>()
  /** One and two letters that a piece begins with. */
  readonly #beginnings = new Set<string>()
  /** Characters that the longest form may take, escapes and line breaks aside. */
  readonly longest: number

  constructor(known: readonly Named[]) {
    let longest = 0
    for (const { name, value } of known)
      for (const text of lettersOf(value).length < FEWEST_LETTERS ? [] : formsOf(value)) {
        const letters = lettersOf(text)
        if (letters.length < FEWEST_LETTERS) continue
        longest = Math.max(longest, text.length)
        for (const piece of piecesOf({ name, letters, exact: exactOf(text, letters) })) this.#add(piece)
      }
    this.longest = longest
  }

  #add(piece: Piece): void {
    const { letters } = piece.form
    let hash = 0
    for (let i = 0; i < 3; i += 1) hash = hashed(hash, letters.charCodeAt(piece.at + i))
    this.#table[hash] = 1
    for (const length of [1, 2]) this.#beginnings.add(letters.slice(piece.at, piece.at + length))
    const key = letters.slice(piece.at, piece.at + FEWEST_LETTERS)
    const there = this.#pieces.get(key)
    if (there) there.push(piece)
    else this.#pieces.set(key, [piece])
  }

  get isEmpty(): boolean {
    return this.#pieces.size === 0
  }

  find(text: string): Found {
    const ranges: Range[] = []
    const covered = new Map<Form, number>()
    const table = this.#table
    let hash = 0
    let [first, second, third] = [-1, -1, -1]
    let open = text.length
    let escaped = false
    for (let i = 0; i < text.length; i += 1) {
      const code = text.charCodeAt(i)
      // The same as isSkipped, in the order of what is common: every text that is kept comes through here.
      if (code <= 32) {
        escaped = false
        continue
      }
      if (code === BACKSLASH) {
        escaped = true
        continue
      }
      if (escaped) {
        escaped = false
        if (code === N || code === R || code === T) continue
      }
      hash = ((hash << HASH_SHIFT) ^ code) & HASH_MASK
      first = second
      second = third
      third = i
      if (table[hash] === 0 || first < 0) continue
      if (this.#look(text, first, ranges, covered)) open = Math.min(open, first)
    }
    // Too short to be looked up.
    if (second >= 0 && this.#beginnings.has(text.charAt(second) + text.charAt(third))) open = Math.min(open, second)
    else if (third >= 0 && this.#beginnings.has(text.charAt(third))) open = Math.min(open, third)
    return { ranges: merged(text, ranges), open }
  }

  /**
   * Adds what begins there. `covered`: up to where each form was found already, so that its pieces are not followed again.
   * Contract: whether the text ends before that can be told.
   */
  #look(text: string, from: number, ranges: Range[], covered: Map<Form, number>): boolean {
    const start = lettersFrom(text, from, FEWEST_LETTERS)
    if (start.length < FEWEST_LETTERS) return true
    let open = false
    for (const { form, at, length } of this.#pieces.get(start) ?? []) {
      if ((covered.get(form) ?? 0) > from) continue
      const met = agreeing(text, from, form.letters, at)
      if (met.ended && at + met.letters < form.letters.length) open = true
      if (met.letters < length) continue
      const range = { from: beginningOf(text, from, form.letters, at), to: met.to, name: form.name }
      if (form.exact !== undefined && text.slice(range.from, range.to) !== form.exact) continue
      covered.set(form, range.to)
      ranges.push(range)
    }
    return open
  }
}

const BACKSLASH = 92
const [N, R, T] = [110, 114, 116]

/** What wrapping and escaping put into a text. */
const isSkipped = (code: number, escaped: boolean): boolean =>
  code <= 32 || code === BACKSLASH || (escaped && (code === N || code === R || code === T))

const HASH_SHIFT = TABLE_BITS / 3
const HASH_MASK = (1 << TABLE_BITS) - 1

/** Of the last three. */
const hashed = (hash: number, code: number): number => ((hash << HASH_SHIFT) ^ code) & HASH_MASK

export const lettersOf = (text: string): string => lettersFrom(text, 0, Number.POSITIVE_INFINITY)

function lettersFrom(text: string, from: number, most: number): string {
  let letters = ''
  let escaped = false
  for (let i = from; i < text.length && letters.length < most; i += 1) {
    const code = text.charCodeAt(i)
    if (!isSkipped(code, escaped)) letters += text[i]
    escaped = code === BACKSLASH
  }
  return letters
}

interface Met {
  /** So many letters. */
  readonly letters: number
  /** From the first of them to behind the last. */
  readonly from: number
  readonly to: number
  /** The text was over before they were. */
  readonly ended: boolean
}

/** How far the text goes on like the letters do. */
function agreeing(text: string, start: number, letters: string, at: number): Met {
  let [count, from, to, escaped] = [0, start, start, false]
  for (let i = start; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    const skipped = isSkipped(code, escaped)
    escaped = code === BACKSLASH
    if (skipped) continue
    if (at + count >= letters.length || letters.charCodeAt(at + count) !== code)
      return { letters: count, from, to, ended: false }
    if (count === 0) from = i
    count += 1
    to = i + 1
  }
  return { letters: count, from, to, ended: true }
}

/** The same backwards, for a piece from the middle. Escapes before the first letter belong to it. */
function beginningOf(text: string, from: number, letters: string, at: number): number {
  let [start, left] = [from, at]
  for (let i = from - 1; i >= 0 && left > 0; i -= 1) {
    const code = text.charCodeAt(i)
    if (isSkipped(code, i > 0 && text.charCodeAt(i - 1) === BACKSLASH)) continue
    if (letters.charCodeAt(left - 1) !== code) break
    left -= 1
    start = i
  }
  return start
}

function piecesOf(form: Form): readonly Piece[] {
  const { length } = form.letters
  const whole = { form, at: 0, length }
  if (length <= LONGEST_WHOLE) return [whole]
  const starts = Array.from({ length: Math.floor(length / PIECE) }, (_, i) => i * PIECE)
  const telling = starts.filter((at) => isTelling(form.letters.slice(at, at + PIECE)))
  return [whole, ...telling.map((at) => ({ form, at, length: PIECE }))]
}

/** What could stand in anybody's text, such as the names of fields or the first line of a key, tells nothing. */
const isTelling = (piece: string): boolean => /[^ -~]/.test(piece) || (piece.match(/\d/g)?.length ?? 0) >= 2

/** From its first letter to its last. */
function exactOf(text: string, letters: string): string | undefined {
  if (letters.length >= SHORTEST_LOOSE) return undefined
  const { from, to } = agreeing(text, 0, letters, 0)
  return text.slice(from, to)
}

function merged(text: string, ranges: readonly Range[]): readonly Range[] {
  const inOrder = ranges.toSorted((a, b) => a.from - b.from || b.to - a.to)
  const all: Range[] = []
  for (const range of inOrder) {
    const last = all.at(-1)
    const joins = last && (range.from < last.to || (range.from === last.to && range.name === last.name))
    if (joins) all[all.length - 1] = { ...last, to: Math.max(last.to, range.to) }
    else all.push(range)
  }
  return all.map((range) => ({ ...range, from: withEscapes(text, range.from) }))
}

/** A backslash that is left over would escape what is put there instead. */
function withEscapes(text: string, from: number): number {
  let start = from
  while (start > 0 && text.charCodeAt(start - 1) === BACKSLASH) start -= 1
  return start
}
