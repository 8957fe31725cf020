/** Replaces secrets by their names in every text that is stored or leaves the process. */

import { truncateText } from '../domain/truncate.ts'
import { MAX_PATTERN_LENGTH, REDACTED_MARK, redactLookalikes } from './secret-heuristics.ts'
import { type MatchResult, type NamedSecret, SecretMatcher, type SecretRange } from './secret-matcher.ts'

/** Redacts known secrets in a text that arrives in pieces. */
export interface RedactingStream {
  /**
   * Contract: returns the text that is safe so far; a possible beginning of a secret is held back until more text shows
   * whether it is a secret.
   */
  push(text: string): string
  /** Contract: returns the rest of the text, redacted. */
  end(): string
}

const MAX_CACHED_LENGTH = 32
const MAX_CACHED = 2000
/** True for texts that go into the cache of long texts. Above the upper bound they would use too much memory. */
const isLong = ({ length }: string): boolean => length >= 500 && length <= 100_000
const MAX_LATEST = 8

export class Redactor {
  /** The names of the known secrets by their values. A secret stays known until the process ends. */
  readonly #known = new Map<string, string>()
  readonly #guessed = new Set<string>()
  #knownMatcher: SecretMatcher | undefined
  #guessedMatcher: SecretMatcher | undefined
  /** Cache of short texts without known secrets: records repeat the same texts. */
  #withoutKnown = new Set<string>()
  /** The same kind of cache for `redact`: texts without known or possible secrets. */
  #withoutAny = new Set<string>()
  /**
   * Recent long texts without known secrets: each passes here several times, for the journal, the trace and observers.
   */
  #latest: string[] = []

  /** Contract: from now on the value appears in no text that is stored or sent. */
  addSecret(name: string, value: string): void {
    if (this.#known.has(value)) return
    this.#known.set(value, name)
    this.#resetCaches()
  }

  /** Adds a value that may be a secret: it is removed only from texts for people. */
  addGuess(value: string): void {
    if (this.#guessed.has(value)) return
    this.#guessed.add(value)
    this.#resetCaches()
  }

  #resetCaches(): void {
    this.#knownMatcher = undefined
    this.#guessedMatcher = undefined
    this.#withoutKnown = new Set()
    this.#withoutAny = new Set()
    this.#latest = []
  }

  #matchers(): { readonly sure: SecretMatcher; readonly unsure: SecretMatcher } {
    this.#knownMatcher ??= new SecretMatcher([...this.#known].map(([value, name]) => ({ name, value })))
    this.#guessedMatcher ??= new SecretMatcher([...this.#guessed].map((value): NamedSecret => ({ name: '', value })))
    return { sure: this.#knownMatcher, unsure: this.#guessedMatcher }
  }

  /** Contract: returns the text without known secrets in any encoding; nothing else changes. */
  redactKnown = (text: string): string => {
    if (isLong(text) ? this.#latest.includes(text) : this.#withoutKnown.has(text)) return text
    const { sure } = this.#matchers()
    if (sure.isEmpty) return text
    const { ranges } = sure.find(text)
    if (ranges.length > 0) return replaceRanges(text, ranges)
    if (isLong(text)) this.#latest = [text, ...this.#latest.slice(0, MAX_LATEST - 1)]
    else if (text.length <= MAX_CACHED_LENGTH && this.#withoutKnown.size < MAX_CACHED) this.#withoutKnown.add(text)
    return text
  }

  /** Contract: like `redactKnown`, but also removes values that may be secrets and texts that look like one. */
  redact = (text: string): string => {
    if (this.#withoutAny.has(text)) return text
    const hidden = this.redactKnown(text)
    const { unsure } = this.#matchers()
    const left = redactLookalikes(unsure.isEmpty ? hidden : replaceRanges(hidden, unsure.find(hidden).ranges))
    if (left === text && text.length <= MAX_CACHED_LENGTH && this.#withoutAny.size < MAX_CACHED)
      this.#withoutAny.add(text)
    return left
  }

  /**
   * Contract: returns at most `most` characters of the redacted text. It is redacted first, so that no secret is cut in
   * two.
   */
  redactAndClip = (text: string, most: number): string => {
    const { sure, unsure } = this.#matchers()
    const margin = 2 * Math.max(sure.longest, unsure.longest, MAX_PATTERN_LENGTH)
    const safe = this.redact(text.slice(0, most + margin))
    return text.length > most && safe.length <= most ? `${safe}…` : truncateText(safe, most)
  }

  /** Like `redactKnown`, for a text that arrives in pieces. */
  stream(): RedactingStream {
    let pending = ''
    return {
      push: (text) => {
        pending += text
        const found = this.#matchers().sure.find(pending)
        const upto = safeEnd(pending, found)
        const safe = replaceRanges(
          pending.slice(0, upto),
          found.ranges.filter(({ from }) => from < upto),
        )
        pending = pending.slice(upto)
        return safe
      },
      end: () => {
        const rest = this.redactKnown(pending)
        pending = ''
        return rest
      },
    }
  }
}

/** The index up to which the text is safe: no secret that may still be incomplete begins before it. */
function safeEnd(text: string, { ranges, open }: MatchResult): number {
  const last = ranges.at(-1)
  const touching = last && last.to >= open ? Math.min(last.from, open) : open
  return Math.min(touching, text.length)
}

function replaceRanges(text: string, ranges: readonly SecretRange[]): string {
  let [left, at] = ['', 0]
  for (const { from, to, name } of ranges) {
    left += text.slice(at, from) + redactionMark(name)
    at = to
  }
  return at === 0 && ranges.length === 0 ? text : left + text.slice(at)
}

const redactionMark = (name: string): string => (name === '' ? REDACTED_MARK : `‹secret:${name}›`)
