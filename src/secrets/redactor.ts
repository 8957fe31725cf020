/** Redaction, in one place: what is secret goes out of every text that is kept or leaves, under its name where it has one. */

import { Finder, type Found, type Named, type Range } from './finder.ts'
import { HIDDEN, LONGEST_LOOK, withoutLooks } from './looks.ts'

/** A text that comes in pieces. */
export interface HidingStream {
  /** Contract: what can be told by now: a secret that the end of a piece cuts in two is held back until it is known to be none. */
  push(text: string): string
  /** Contract: the rest. */
  end(): string
}

const LONGEST_WORD = 32
const MOST_WORDS = 2000
/** Not for longer than a result may be: what is remembered stays in memory. */
const isLong = ({ length }: string): boolean => length >= 500 && length <= 100_000
const MOST_LATEST = 8

export class Redactor {
  /** Names by value. One that was a secret stays one for as long as the program runs. */
  readonly #known = new Map<string, string>()
  readonly #guessed = new Set<string>()
  #sure: Finder | undefined
  #unsure: Finder | undefined
  /** Names and words come back with every record: those with nothing to hide are looked at once. */
  #clean = new Set<string>()
  /** The same for `redact`. */
  #bland = new Set<string>()
  /** A long text comes by several times within moments, on its way to the journal, the trace and whoever watches. */
  #latest: string[] = []

  /** Contract: that value is in nothing that is told or written from now on. */
  know(name: string, value: string): void {
    if (this.#known.has(value)) return
    this.#known.set(value, name)
    this.#renew()
  }

  /** A value that may be a secret: hidden in what only people read. */
  guess(value: string): void {
    if (this.#guessed.has(value)) return
    this.#guessed.add(value)
    this.#renew()
  }

  #renew(): void {
    this.#sure = undefined
    this.#unsure = undefined
    this.#clean = new Set()
    this.#bland = new Set()
    this.#latest = []
  }

  #finders(): { readonly sure: Finder; readonly unsure: Finder } {
    this.#sure ??= new Finder([...this.#known].map(([value, name]) => ({ name, value })))
    this.#unsure ??= new Finder([...this.#guessed].map((value): Named => ({ name: '', value })))
    return { sure: this.#sure, unsure: this.#unsure }
  }

  /** Contract: the text without the secrets that are known, in any form in which they travel; everything else in it stays. */
  hide = (text: string): string => {
    if (isLong(text) ? this.#latest.includes(text) : this.#clean.has(text)) return text
    const { sure } = this.#finders()
    if (sure.isEmpty) return text
    const { ranges } = sure.find(text)
    if (ranges.length > 0) return without(text, ranges)
    if (isLong(text)) this.#latest = [text, ...this.#latest.slice(0, MOST_LATEST - 1)]
    else if (text.length <= LONGEST_WORD && this.#clean.size < MOST_WORDS) this.#clean.add(text)
    return text
  }

  /** Contract: as `hide`, and without what may be a secret, or looks it. */
  redact = (text: string): string => {
    if (this.#bland.has(text)) return text
    const hidden = this.hide(text)
    const { unsure } = this.#finders()
    const left = withoutLooks(unsure.isEmpty ? hidden : without(hidden, unsure.find(hidden).ranges))
    if (left === text && text.length <= LONGEST_WORD && this.#bland.size < MOST_WORDS) this.#bland.add(text)
    return left
  }

  /** Contract: at most so many characters of the redacted text; what the cut would halve is taken out before. */
  cut = (text: string, most: number): string => {
    const { sure, unsure } = this.#finders()
    const margin = 2 * Math.max(sure.longest, unsure.longest, LONGEST_LOOK)
    const told = this.redact(text.slice(0, most + margin))
    return text.length > most || told.length > most ? `${told.slice(0, most)}…` : told
  }

  /** As `hide`, piece by piece. */
  stream(): HidingStream {
    let held = ''
    return {
      push: (text) => {
        held += text
        const found = this.#finders().sure.find(held)
        const upto = tellable(held, found)
        const told = without(
          held.slice(0, upto),
          found.ranges.filter(({ from }) => from < upto),
        )
        held = held.slice(upto)
        return told
      },
      end: () => {
        const rest = this.hide(held)
        held = ''
        return rest
      },
    }
  }
}

/** Behind the last place at which nothing is open. */
function tellable(text: string, { ranges, open }: Found): number {
  const last = ranges.at(-1)
  const touching = last && last.to >= open ? Math.min(last.from, open) : open
  return Math.min(touching, text.length)
}

function without(text: string, ranges: readonly Range[]): string {
  let [left, at] = ['', 0]
  for (const { from, to, name } of ranges) {
    left += text.slice(at, from) + markOf(name)
    at = to
  }
  return at === 0 && ranges.length === 0 ? text : left + text.slice(at)
}

const markOf = (name: string): string => (name === '' ? HIDDEN : `‹secret:${name}›`)
