/** Replaces secrets by their names in every text that is stored or leaves the process. */

import { createHmac } from 'node:crypto'
import { placeholderFor } from '../domain/placeholder.ts'
import { truncateText } from '../domain/truncate.ts'
import type { HiddenText } from '../ports/secrets.ts'
import { RecentResults } from './recent-results.ts'
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

/** A secret of more lines is found only as a whole, not in groups of its lines: their number grows quadratically. */
const MAX_LINES = 64

const TAG_LENGTH = 6

export class Redactor {
  readonly #key: string
  /** The names of the known secrets by their values. A secret stays known until the process ends. */
  readonly #known = new Map<string, string>()
  /** The first value of each name, without blanks around it; its placeholder has no tag. */
  readonly #values = new Map<string, string>()
  readonly #guessed = new Set<string>()
  #knownMatcher: SecretMatcher | undefined
  #guessedMatcher: SecretMatcher | undefined
  /** Results of `redactKnown` and of `redact`. */
  #knownResults = new RecentResults()
  #results = new RecentResults()

  /**
   * `key`: known only to the home; the tags of placeholders are computed with it, so that nobody can check a guess of a
   * hidden text. With the same key, the same text gets the same placeholder in every process.
   */
  constructor(key: string) {
    this.#key = key
  }

  /** Contract: from now on the value appears in no text that is stored or sent. */
  addSecret(name: string, value: string): void {
    if (this.#known.has(value)) return
    this.#known.set(value, name)
    if (!this.#values.has(name)) this.#values.set(name, value.trim())
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
    this.#knownResults = new RecentResults()
    this.#results = new RecentResults()
  }

  #matchers(): { readonly sure: SecretMatcher; readonly unsure: SecretMatcher } {
    this.#knownMatcher ??= new SecretMatcher([...this.#known].map(([value, name]) => ({ name, value })))
    this.#guessedMatcher ??= new SecretMatcher([...this.#guessed].map((value): NamedSecret => ({ name: '', value })))
    return { sure: this.#knownMatcher, unsure: this.#guessedMatcher }
  }

  /** Contract: returns the text without known secrets in any encoding; nothing else changes. */
  redactKnown = (text: string): string => {
    const known = this.#knownResults.get(text)
    if (known !== undefined) return known
    const { sure } = this.#matchers()
    const result = sure.isEmpty ? text : this.#replaceRanges(text, sure.find(text).ranges)
    this.#knownResults.set(text, result)
    return result
  }

  /**
   * Contract: every text that `redactKnown` hides in the text or in some of its lines, with its placeholder. One
   * placeholder stands for one text only.
   */
  find = (text: string): readonly HiddenText[] => {
    const { sure } = this.#matchers()
    if (sure.isEmpty) return []
    const found = (part: string): readonly HiddenText[] =>
      sure.find(part).ranges.map((range) => ({
        placeholder: this.#placeholderOf(part, range),
        text: part.slice(range.from, range.to),
      }))
    return [...found(text), ...sure.find(text).ranges.flatMap((range) => groupsOfLines(text, range).flatMap(found))]
  }

  /**
   * An encoding of a secret, a part of one, several in a row, and a second value of the same name have a tag, because
   * what stands for a text must stand for no other one.
   */
  #placeholderOf(text: string, { from, to, name }: SecretRange): string {
    const hidden = text.slice(from, to)
    if (hidden === this.#values.get(name)) return placeholderFor(name)
    return placeholderFor(name, createHmac('sha256', this.#key).update(hidden).digest('hex').slice(0, TAG_LENGTH))
  }

  #replaceRanges(text: string, ranges: readonly SecretRange[]): string {
    return replaceRanges(text, ranges, (range) => this.#placeholderOf(text, range))
  }

  /** Contract: like `redactKnown`, but also removes values that may be secrets and texts that look like one. */
  redact = (text: string): string => {
    const known = this.#results.get(text)
    if (known !== undefined) return known
    const hidden = this.redactKnown(text)
    const { unsure } = this.#matchers()
    const result = redactLookalikes(
      unsure.isEmpty ? hidden : replaceRanges(hidden, unsure.find(hidden).ranges, () => REDACTED_MARK),
    )
    this.#results.set(text, result)
    return result
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
        const safe = this.#replaceRanges(
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

function replaceRanges(
  text: string,
  ranges: readonly SecretRange[],
  replacement: (range: SecretRange) => string,
): string {
  let [left, at] = ['', 0]
  for (const range of ranges) {
    left += text.slice(at, range.from) + replacement(range)
    at = range.to
  }
  return at === 0 && ranges.length === 0 ? text : left + text.slice(at)
}

/** The lines of a range, if it has several: each one, and each group of neighbours, but not all of them. */
function groupsOfLines(text: string, { from, to }: SecretRange): readonly string[] {
  const first = text.lastIndexOf('\n', from - 1) + 1
  const end = text.indexOf('\n', to - 1)
  const lines = text.slice(first, end === -1 ? undefined : end + 1).match(/[^\n]*\n|[^\n]+$/g) ?? []
  if (lines.length < 2 || lines.length > MAX_LINES) return []
  return lines.flatMap((_, i) =>
    lines.slice(i, i === 0 ? -1 : undefined).map((_, count) => lines.slice(i, i + count + 1).join('')),
  )
}
