/** The last events as they were sent, numbered without gaps, so that a viewer can continue where it left off. */

import { eventLine } from '../trace/event-line.ts'
import type { LiveMessage } from './redacting-sink.ts'

/** At 10,000 events a second this is two seconds, in which a viewer can reconnect; otherwise hours. */
export const MAX_KEPT_BYTES = 8 * 1024 * 1024
/**
 * Small batches are collected in blocks, so that all viewers that reconnect are sent the same few buffers. Large ones
 * are divided, so that their end is kept even if the whole is too much.
 */
const BLOCK_BYTES = 256 * 1024

interface Block {
  /** The numbers of its first and last event. */
  readonly first: number
  last: number
  readonly bytes: Buffer
  /** So many bytes are used; they never change again. */
  length: number
  /** The used bytes, the same buffer for all viewers as long as none are added. */
  used?: Buffer
}

export class RecentEvents {
  readonly #idPrefix: string
  readonly #blocks: Block[] = []
  #keptBytes = 0
  #seq = 0

  constructor(idPrefix: string) {
    this.#idPrefix = idPrefix
  }

  /** Contract: numbers and keeps the events; returns them as they are sent, to all viewers alike. */
  add(events: readonly LiveMessage[]): readonly Buffer[] {
    const chunks: Buffer[] = []
    let [text, first] = ['', this.#seq + 1]
    for (const [i, message] of events.entries()) {
      this.#seq += 1
      const json = message.name === 'event' ? eventLine(message.data) : JSON.stringify(message.data)
      text += messageText(message.name, json, this.lastId())
      if (text.length < BLOCK_BYTES && i < events.length - 1) continue
      const chunk = Buffer.from(text)
      this.#keep(chunk, first)
      chunks.push(chunk)
      ;[text, first] = ['', this.#seq + 1]
    }
    return chunks
  }

  lastId(): string {
    return `${this.#idPrefix}.${this.#seq}`
  }

  /** Contract: nothing is kept; earlier ids are unknown from now on. */
  forget(): void {
    this.#blocks.length = 0
    this.#keptBytes = 0
    // Skips a number: the last id must be unknown, too, because events are not numbered while there is no viewer.
    this.#seq += 1
  }

  /** Contract: the events after the id; undefined if some are no longer kept, or the id is unknown. */
  after(id: string): { readonly id: string; readonly chunks: readonly Buffer[] } | undefined {
    const prefix = `${this.#idPrefix}.`
    const at = id.startsWith(prefix) ? Number(id.slice(prefix.length)) : Number.NaN
    const first = this.#blocks[0]?.first ?? this.#seq + 1
    if (!Number.isInteger(at) || at > this.#seq || at < first - 1) return undefined
    const later = this.#blocks.filter(({ last }) => last > at)
    return { id: `${prefix}${at}`, chunks: later.map((block) => this.#eventsAfter(block, at)) }
  }

  #eventsAfter(block: Block, at: number): Buffer {
    const { first, bytes, length } = block
    if (block.used?.length !== length) block.used = bytes.subarray(0, length)
    if (at < first) return block.used
    // Line feeds in data are escaped, so nothing but the field itself looks like this.
    return bytes.subarray(bytes.indexOf(idField(`${this.#idPrefix}.${at + 1}`)), length)
  }

  #keep(chunk: Buffer, first: number): void {
    const [tail, last] = [this.#blocks.at(-1), this.#seq]
    this.#keptBytes += chunk.length
    if (tail && tail.length + chunk.length <= tail.bytes.length) {
      chunk.copy(tail.bytes, tail.length)
      tail.length += chunk.length
      tail.last = last
    } else {
      const bytes = chunk.length < BLOCK_BYTES ? Buffer.alloc(BLOCK_BYTES) : chunk
      if (bytes !== chunk) chunk.copy(bytes)
      this.#blocks.push({ first, last, bytes, length: chunk.length })
    }
    while (this.#keptBytes > MAX_KEPT_BYTES) this.#keptBytes -= this.#blocks.shift()?.length ?? this.#keptBytes
  }
}

const idField = (id: string): string => `id: ${id}\n`

const messageText = (name: string, json: string, id: string): string =>
  `${idField(id)}event: ${name}\ndata: ${json}\n\n`

/** Contract: one message of the stream. */
export const encodeMessage = (name: string, data: unknown, id: string): Buffer =>
  Buffer.from(messageText(name, JSON.stringify(data), id))
