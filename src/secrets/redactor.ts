/** Replaces secrets by their names in every text that is stored or leaves the process. */

import { truncateText } from '../domain/truncate.ts'
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

export class Redactor {
  /** The names of the known secrets by their values. A secret stays known until the process ends. */
  readonly #known = new Map<string, string>()
  readonly #guessed = new Set<string>()
  #knownMatcher: SecretMatcher | undefined
  #guessedMatcher: SecretMatcher | undefined
  /** Results of `redactKnown` and of `redact`. */
  #knownResults = new RecentResults()
  #results = new RecentResults()

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
    const result = sure.isEmpty ? text : replaceRanges(text, sure.find(text).ranges)
    this.#knownResults.set(text, result)
    return result
  }

  /** Contract: like `redactKnown`, but also removes values that may be secrets and texts that look like one. */
  redact = (text: string): string => {
    const known = this.#results.get(text)
    if (known !== undefined) return known
    const hidden = this.redactKnown(text)
    const { unsure } = this.#matchers()
    const result = redactLookalikes(unsure.isEmpty ? hidden : replaceRanges(hidden, unsure.find(hidden).ranges))
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
