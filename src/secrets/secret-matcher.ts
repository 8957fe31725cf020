/**
 * Finds known secrets in a text, in any of their encodings, also across line breaks and nested escapes.
 *
 * Characters that wrapping and escaping add to a text (blanks, backslashes, and n, r, t after a backslash) are skipped;
 * the others are called letters here. Short encodings must still match exactly. Three letters are looked up in a table,
 * then six in a map, and only then is anything compared, so that a text without secrets costs one lookup per letter.
 * Long encodings are also known by their pieces, so that a part of one is found.
 */

import { encodingsOf } from './secret-encodings.ts'

export interface NamedSecret {
  readonly name: string
  readonly value: string
}

export interface SecretRange {
  readonly from: number
  readonly to: number
  readonly name: string
}

export interface MatchResult {
  /** In order of position; ranges do not overlap. */
  readonly ranges: readonly SecretRange[]
  /** From this index on the text may be the incomplete beginning of a secret. */
  readonly open: number
}

/** Secrets of fewer letters would match in ordinary words. */
export const MIN_LETTERS = 6
/** Encodings of fewer letters must match exactly. */
const MIN_LOOSE_MATCH = 16
const MAX_WHOLE = 64
const PIECE_LENGTH = 32
const TABLE_BITS = 18

interface Encoding {
  readonly name: string
  /** The encoding without skipped characters. */
  readonly letters: string
  /** For short encodings: the exact text that must be found. */
  readonly exact: string | undefined
}

/** A part of an encoding that is searched for; it begins at letter `at`. */
interface Piece {
  readonly form: Encoding
  readonly at: number
  readonly length: number
}

export class SecretMatcher {
  readonly #table = new Uint8Array(1 << TABLE_BITS)
  readonly #pieces = new Map<string, Piece[]>()
  /** The first letter, and the first two letters, of each piece. */
  readonly #beginnings = new Set<string>()
  /** Length of the longest encoding, without the escapes and line breaks that a text may add. */
  readonly longest: number

  constructor(known: readonly NamedSecret[]) {
    let longest = 0
    for (const { name, value } of known)
      for (const text of significantLetters(value).length < MIN_LETTERS ? [] : encodingsOf(value)) {
        const letters = significantLetters(text)
        if (letters.length < MIN_LETTERS) continue
        longest = Math.max(longest, text.length)
        for (const piece of piecesOf({ name, letters, exact: exactText(text, letters) })) this.#add(piece)
      }
    this.longest = longest
  }

  #add(piece: Piece): void {
    const { letters } = piece.form
    let hash = 0
    for (let i = 0; i < 3; i += 1) hash = rollHash(hash, letters.charCodeAt(piece.at + i))
    this.#table[hash] = 1
    for (const length of [1, 2]) this.#beginnings.add(letters.slice(piece.at, piece.at + length))
    const key = letters.slice(piece.at, piece.at + MIN_LETTERS)
    const existing = this.#pieces.get(key)
    if (existing) existing.push(piece)
    else this.#pieces.set(key, [piece])
  }

  get isEmpty(): boolean {
    return this.#pieces.size === 0
  }

  find(text: string): MatchResult {
    const ranges: SecretRange[] = []
    const covered = new Map<Encoding, number>()
    const table = this.#table
    let hash = 0
    let [first, second, third] = [-1, -1, -1]
    let open = text.length
    let escaped = false
    for (let i = 0; i < text.length; i += 1) {
      const code = text.charCodeAt(i)
      // The same test as isSkipped, with the common cases first: every stored text passes through here.
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
      if (this.#matchAt(text, first, ranges, covered)) open = Math.min(open, first)
    }
    // The last one or two letters are too few for a lookup in the table.
    if (second >= 0 && this.#beginnings.has(text.charAt(second) + text.charAt(third))) open = Math.min(open, second)
    else if (third >= 0 && this.#beginnings.has(text.charAt(third))) open = Math.min(open, third)
    return { ranges: mergeRanges(text, ranges), open }
  }

  /**
   * Adds the matches that begin at `from`. `covered`: the end of the last match of each encoding, so that its pieces
   * are not matched again. Contract: returns true if the text ends before it is clear whether there is a match.
   */
  #matchAt(text: string, from: number, ranges: SecretRange[], covered: Map<Encoding, number>): boolean {
    const start = lettersFrom(text, from, MIN_LETTERS)
    if (start.length < MIN_LETTERS) return true
    let open = false
    for (const { form, at, length } of this.#pieces.get(start) ?? []) {
      if ((covered.get(form) ?? 0) > from) continue
      const match = matchForward(text, from, form.letters, at)
      if (match.ended && at + match.letters < form.letters.length) open = true
      if (match.letters < length) continue
      const range = { from: matchBackward(text, from, form.letters, at), to: match.to, name: form.name }
      if (form.exact !== undefined && text.slice(range.from, range.to) !== form.exact) continue
      covered.set(form, range.to)
      ranges.push(range)
    }
    return open
  }
}

const BACKSLASH = 92
const [N, R, T] = [110, 114, 116]

/** Characters that wrapping and escaping add to a text. */
const isSkipped = (code: number, escaped: boolean): boolean =>
  code <= 32 || code === BACKSLASH || (escaped && (code === N || code === R || code === T))

const HASH_SHIFT = TABLE_BITS / 3
const HASH_MASK = (1 << TABLE_BITS) - 1

/** Rolling hash of the last three letters. */
const rollHash = (hash: number, code: number): number => ((hash << HASH_SHIFT) ^ code) & HASH_MASK

export const significantLetters = (text: string): string => lettersFrom(text, 0, Number.POSITIVE_INFINITY)

function lettersFrom(text: string, from: number, max: number): string {
  let letters = ''
  let escaped = false
  for (let i = from; i < text.length && letters.length < max; i += 1) {
    const code = text.charCodeAt(i)
    if (!isSkipped(code, escaped)) letters += text[i]
    escaped = code === BACKSLASH
  }
  return letters
}

interface Match {
  /** The number of matching letters. */
  readonly letters: number
  /** Index of the first matching letter, and the index after the last matching letter. */
  readonly from: number
  readonly to: number
  /** True: the text ended before the first difference. */
  readonly ended: boolean
}

/** Compares the text from `start` on with the letters from `at` on. */
function matchForward(text: string, start: number, letters: string, at: number): Match {
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

/** Extends a match of a piece backwards to earlier letters of its encoding; returns the start of the match. */
function matchBackward(text: string, from: number, letters: string, at: number): number {
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

function piecesOf(form: Encoding): readonly Piece[] {
  const { length } = form.letters
  const whole = { form, at: 0, length }
  if (length <= MAX_WHOLE) return [whole]
  const starts = Array.from({ length: Math.floor(length / PIECE_LENGTH) }, (_, i) => i * PIECE_LENGTH)
  const distinctive = starts.filter((at) => isDistinctive(form.letters.slice(at, at + PIECE_LENGTH)))
  return [whole, ...distinctive.map((at) => ({ form, at, length: PIECE_LENGTH }))]
}

/** A piece with fewer than two digits may be common text, such as field names or the first line of a key. */
const isDistinctive = (piece: string): boolean => /[^ -~]/.test(piece) || (piece.match(/\d/g)?.length ?? 0) >= 2

/** The text from its first letter to its last, if it is so short that it must match exactly. */
function exactText(text: string, letters: string): string | undefined {
  if (letters.length >= MIN_LOOSE_MATCH) return undefined
  const { from, to } = matchForward(text, 0, letters, 0)
  return text.slice(from, to)
}

function mergeRanges(text: string, ranges: readonly SecretRange[]): readonly SecretRange[] {
  const sorted = ranges.toSorted((a, b) => a.from - b.from || b.to - a.to)
  const all: SecretRange[] = []
  for (const range of sorted) {
    const last = all.at(-1)
    const isAdjacent = last && (range.from < last.to || (range.from === last.to && range.name === last.name))
    if (isAdjacent) all[all.length - 1] = { ...last, to: Math.max(last.to, range.to) }
    else all.push(range)
  }
  return all.map((range) => ({ ...range, from: includeEscapes(text, range.from) }))
}

/** Adds the backslashes before a match: they would escape the replacement. */
function includeEscapes(text: string, from: number): number {
  let start = from
  while (start > 0 && text.charCodeAt(start - 1) === BACKSLASH) start -= 1
  return start
}
