/** The last events as they were sent, numbered without gaps, so that a viewer can continue where it left off. */

import { PartCompressor, StreamPart } from './compressed-stream.ts'
import type { LiveMessage } from './live-message.ts'

/** Not compressed. At 10,000 events a second this is two seconds, in which a viewer can reconnect; otherwise hours. */
export const MAX_KEPT_BYTES = 8 * 1024 * 1024
/** More is divided, so that its end is kept even if the whole is too much. */
const PART_BYTES = 512 * 1024
/** So many small parts are joined, so that a viewer that reconnects after hours is sent few of them. */
const JOINED_PARTS = 64
const SMALL_BYTES = PART_BYTES / JOINED_PARTS
/** If so many parts wait, because all threads are busy, further ones are compressed in this thread. */
const MAX_WAITING_PARTS = 16
/** So much memory is used again: a part is filled while others are compressed. */
const FREE_BLOCKS = 3
/** A UTF-16 unit takes at most so many bytes in UTF-8. */
const MAX_UNIT_BYTES = 3
/** So much text is encoded at once: less would cost more calls, more would live longer. */
const ENCODED_CHARS = 16 * 1024

interface KeptPart {
  /** The numbers of its first and last event. */
  readonly first: number
  readonly last: number
  readonly part: StreamPart
}

export class RecentEvents {
  readonly #idPrefix: string
  readonly #idStart: string
  readonly #kept: KeptPart[] = []
  #keptBytes = 0
  /** So many of the last parts are small, and not joined yet. */
  #smallParts = 0
  /** The number of the last event that was added. */
  #added = 0
  /** The number of the last event that is in the block or in a part. */
  #encoded = 0
  /** The number of the last event that is in a part. */
  #divided = 0
  /** The number of the last event that `takeAdded` has returned. */
  #taken = 0
  /** Events that are not in the block yet. */
  #text = ''
  /**
   * Events that are in no part yet. Its memory is used again and again, and nothing else is kept of events, neither
   * objects nor strings: with thousands a second, collecting what lives a little longer would cost more than the rest.
   */
  #block: Buffer = Buffer.alloc(0)
  #length = 0
  readonly #freeBlocks: Buffer[] = []
  /** Parts that `takeAdded` has not returned, as they are compressed. */
  #parts: Promise<KeptPart>[] = []
  #compressor: PartCompressor | undefined
  /** How often events were forgotten. */
  #forgotten = 0

  constructor(idPrefix: string) {
    this.#idPrefix = idPrefix
    this.#idStart = `id: ${idPrefix}.`
  }

  /** Contract: numbers each event. */
  add(messages: readonly LiveMessage[]): void {
    for (const message of messages) {
      const start = DATA_START[message.name]
      const texts = message.name === 'event' ? message.lines : [JSON.stringify(message.data)]
      for (const json of texts) {
        this.#added += 1
        this.#text += `${this.#idStart}${this.#added}${start}${json}\n\n`
      }
      if (this.#text.length >= ENCODED_CHARS) this.#encode()
    }
    this.#encode()
  }

  /** The number of events that were added since the last ones were taken. */
  addedCount(): number {
    return this.#added - this.#taken
  }

  /**
   * Contract: the events that were added since the last call, as they are sent, to all viewers alike. Keeps them.
   * Undefined: they were forgotten meanwhile. Call it again only when it has resolved.
   */
  async takeAdded(): Promise<StreamPart | undefined> {
    this.#endPart()
    const forgotten = this.#forgotten
    const parts = await Promise.all(this.#parts.splice(0))
    if (forgotten !== this.#forgotten) return undefined
    for (const each of parts) this.#keep(each)
    this.#taken = parts.at(-1)?.last ?? this.#taken
    return StreamPart.join(parts.map(({ part }) => part))
  }

  /** Contract: the id of the last event that was taken. */
  lastId(): string {
    return this.#idOf(this.#taken)
  }

  /** Contract: nothing is kept; earlier ids are unknown from now on. */
  forget(): void {
    this.#kept.length = 0
    this.#keptBytes = 0
    this.#smallParts = 0
    this.#parts = []
    this.#text = ''
    this.#length = 0
    this.#block = Buffer.alloc(0)
    this.#freeBlocks.length = 0
    this.#compressor = undefined
    this.#forgotten += 1
    // Skips a number: the last id must be unknown, too, because events are not numbered while there is no viewer.
    this.#added += 1
    this.#encoded = this.#added
    this.#divided = this.#added
    this.#taken = this.#added
  }

  /** Contract: the events after the id; undefined if some are no longer kept, or the id is unknown. */
  after(id: string): { readonly id: string; readonly parts: readonly StreamPart[] } | undefined {
    const prefix = this.#idPrefix
    const at = id.startsWith(`${prefix}.`) ? Number(id.slice(prefix.length + 1)) : Number.NaN
    const first = this.#kept[0]?.first ?? this.#taken + 1
    if (!Number.isInteger(at) || at > this.#taken || at < first - 1) return undefined
    const later = this.#kept.filter(({ last }) => last > at)
    return { id: this.#idOf(at), parts: later.map((each) => this.#eventsAfter(each, at)) }
  }

  #idOf(number: number): string {
    return `${this.#idPrefix}.${number}`
  }

  #eventsAfter({ first, part }: KeptPart, at: number): StreamPart {
    if (at < first) return part
    // Line feeds in data are escaped, so nothing but the field itself looks like this.
    const { plain } = part
    return StreamPart.of(plain.subarray(plain.indexOf(idField(this.#idOf(at + 1)))))
  }

  #encode(): void {
    const most = MAX_UNIT_BYTES * this.#text.length
    if (most > this.#block.length - this.#length) this.#endPart()
    if (most > this.#block.length) this.#block = this.#newBlock(most)
    this.#length += this.#block.write(this.#text, this.#length)
    this.#text = ''
    this.#encoded = this.#added
  }

  #newBlock(least: number): Buffer {
    const free = least <= PART_BYTES ? this.#freeBlocks.pop() : undefined
    return free ?? Buffer.allocUnsafeSlow(Math.max(PART_BYTES, least))
  }

  /** What is in the block becomes a part. */
  #endPart(): void {
    if (this.#length === 0) return
    const [block, length] = [this.#block, this.#length]
    this.#block = Buffer.alloc(0)
    this.#length = 0
    const part = this.#compress(block, length, { first: this.#divided + 1, last: this.#encoded })
    // A failure is reported when the part is taken, which may be later.
    part.catch(() => {})
    this.#parts.push(part)
    this.#divided = this.#encoded
  }

  async #compress(block: Buffer, length: number, numbers: Pick<KeptPart, 'first' | 'last'>): Promise<KeptPart> {
    this.#compressor ??= new PartCompressor()
    const plain = block.subarray(0, length)
    const mayWait = this.#parts.length < MAX_WAITING_PARTS
    const part = mayWait ? await this.#compressor.compress(plain) : StreamPart.of(plain)
    if (block.length === PART_BYTES && this.#freeBlocks.length < FREE_BLOCKS) this.#freeBlocks.push(block)
    return { ...numbers, part }
  }

  #keep(added: KeptPart): void {
    this.#kept.push(added)
    this.#keptBytes += added.part.length
    this.#smallParts = added.part.length < SMALL_BYTES ? this.#smallParts + 1 : 0
    if (this.#smallParts === JOINED_PARTS) this.#joinSmall()
    while (this.#keptBytes > MAX_KEPT_BYTES) this.#keptBytes -= this.#kept.shift()?.part.length ?? this.#keptBytes
  }

  #joinSmall(): void {
    const small = this.#kept.splice(-JOINED_PARTS)
    const [first, last] = [small[0]?.first ?? 0, small.at(-1)?.last ?? 0]
    this.#kept.push({ first, last, part: StreamPart.join(small.map(({ part }) => part)) })
    this.#smallParts = 0
  }
}

const idField = (id: string): string => `id: ${id}\n`

const dataStart = (name: string): string => `event: ${name}\ndata: `

const DATA_START: Readonly<Record<LiveMessage['name'], string>> = {
  event: `\n${dataStart('event')}`,
  delta: `\n${dataStart('delta')}`,
  status: `\n${dataStart('status')}`,
}

/** Contract: one message of the stream. */
export const encodeMessage = (name: string, data: unknown, id: string): StreamPart =>
  StreamPart.of(Buffer.from(`${idField(id)}${dataStart(name)}${JSON.stringify(data)}\n\n`))
