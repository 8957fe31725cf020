/**
 * Redacts streamed text and output of runs for viewers. Each piece is redacted together with the text before it,
 * because many secrets are recognised only by the words before them, or by their whole length.
 */

import type { Delta, LiveDelta } from '../domain/event.ts'
import type { Redact } from '../domain/redact.ts'

type TextPiece = Extract<LiveDelta, { readonly text: string }>

/** An incomplete word is held back, but no more than so many characters of it. */
const MAX_WORD = 8192
/** A secret is recognised by at most so many characters before it. */
const CONTEXT = 200
/** A key file is one secret of many lines, recognised by its first one. */
const KEY_START = '-----BEGIN '
const KEY_END = '-----END'
const KEY_HEADER = 64

interface OpenText {
  readonly last: TextPiece
  /** The end of the text that was sent, not redacted. */
  readonly before: string
  /** The last word is held back while it is incomplete. */
  readonly word: string
}

interface TextReceiver {
  /** Contract: false: nothing is sent. The text is followed all the same, because a viewer may join in the middle. */
  isWatched(): boolean
  send(piece: TextPiece): void
}

export class StreamedTextRedactor {
  readonly #redact: Redact
  readonly #receiver: TextReceiver
  /** By run, then by text: a run writes its answer, and its calls may write their output at the same time. */
  readonly #open = new Map<string, Map<string, OpenText>>()

  constructor(redact: Redact, receiver: TextReceiver) {
    this.#redact = redact
    this.#receiver = receiver
  }

  /** Contract: sends the text that is complete, redacted. */
  push(piece: TextPiece): void {
    const open = this.#open.get(piece.run_id) ?? new Map<string, OpenText>()
    this.#open.set(piece.run_id, open)
    const { before, word } = open.get(textOf(piece)) ?? { before: '', word: '' }
    const all = word + piece.text
    const end = all.length - openWordLength(all)
    const text = all.slice(0, end)
    open.set(textOf(piece), { last: piece, before: contextOf(before + text), word: all.slice(end) })
    this.#sendRedacted(piece, before, text)
  }

  /** Contract: sends what is held back of the text that ends before this delta. */
  endBefore(delta: Delta): void {
    const open = this.#open.get(delta.run_id)
    const ended = open?.get(textOf(delta))
    open?.delete(textOf(delta))
    if (ended) this.#sendRedacted(ended.last, ended.before, ended.word)
  }

  /** Contract: sends what is held back of all texts of the run. */
  endAll(run_id: string): void {
    const open = this.#open.get(run_id)
    this.#open.delete(run_id)
    for (const { last, before, word } of open?.values() ?? []) this.#sendRedacted(last, before, word)
  }

  /** A later word may change how the words before it are redacted; then it is sent with them. */
  #sendRedacted(piece: TextPiece, before: string, text: string): void {
    if (text === '' || !this.#receiver.isWatched()) return
    const [sent, all] = [this.#redact(before), this.#redact(before + text)]
    const added = all.slice(commonStart(sent, all))
    if (added !== '') this.#receiver.send({ ...piece, text: added })
  }
}

/** The answer ends with a call, the output of a call with its result. */
const textOf = (delta: Delta): string => (delta.kind === 'text' || delta.kind === 'call' ? '' : String(delta.index))

function openWordLength(text: string): number {
  const least = Math.max(0, text.length - MAX_WORD)
  let at = text.length
  while (at > least && isPartOfWord(text.charCodeAt(at - 1))) at -= 1
  return text.length - at
}

/** ASCII without spaces. */
const isPartOfWord = (unit: number): boolean => unit > 0x20 && unit < 0x7f

function contextOf(text: string): string {
  const recent = Math.max(0, text.length - CONTEXT)
  const key = text.lastIndexOf(KEY_START)
  if (key < 0 || text.indexOf(KEY_END, key) >= 0) return text.slice(recent)
  return text.slice(key, key + KEY_HEADER) + text.slice(Math.max(recent, key + KEY_HEADER))
}

function commonStart(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at += 1
  return at
}
