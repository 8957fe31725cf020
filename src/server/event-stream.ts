/**
 * Server-sent events, numbered without gaps. Recent events are kept, so that a viewer (a client of the stream) can
 * reconnect and continue. A viewer that is too late, or was connected to an earlier process, gets `reset` and must
 * fetch everything anew. A slow viewer is disconnected, never waited for.
 */

import type { Clock } from '../ports/clock.ts'
import { type LiveMessage, mergeTextDeltas } from './redacting-sink.ts'

/** Events are sent in batches, because many viewers of a busy kernel would cause thousands of writes. */
const BATCH_MS = 30
const KEEP_ALIVE_MS = 15_000
const MAX_KEPT_BYTES = 1024 * 1024
/** A viewer with more unsent bytes is disconnected. Must exceed MAX_KEPT_BYTES, which a reconnect may send at once. */
const MAX_UNSENT_BYTES = 2 * MAX_KEPT_BYTES
const RECONNECT_MS = 1000
/** How often the viewers' credentials are checked, also while there are no events. */
const CHECK_MS = 1000

interface Viewer {
  send(chunk: Buffer): void
  /** Bytes that were sent but that the client has not received yet. */
  unsentBytes(): number
  /** Contract: closes the connection at once. */
  drop(): void
  /** Contract: whether the credentials of the viewer are still valid. */
  isAuthorized(): boolean
}

interface EventStreamOptions {
  readonly clock: Clock
  /** Prefix of this process's event ids. */
  readonly idPrefix: string
  /** Contract: the current token; when it changes, the credentials of all viewers are checked again. */
  token(): string | undefined
}

export class EventStream {
  readonly #clock: Clock
  readonly #token: () => string | undefined
  readonly #recent: RecentEvents
  readonly #viewers = new Map<Viewer, AbortController>()
  readonly #closed = new AbortController()
  #pending: LiveMessage[] = []
  #hadViewer = false
  #onViewer: (() => void)[] = []
  /** The token when all viewers were last checked; null: a viewer has joined since that check. */
  #checkedToken: string | undefined | null = null
  #isChecking = false

  constructor({ clock, idPrefix, token }: EventStreamOptions) {
    this.#clock = clock
    this.#token = token
    this.#recent = new RecentEvents(idPrefix)
  }

  send(event: LiveMessage): void {
    if (this.#closed.signal.aborted || !this.#hadViewer) return
    const merged = mergeTextDeltas(this.#pending.at(-1), event)
    if (merged) this.#pending[this.#pending.length - 1] = merged
    else if (this.#pending.push(event) === 1)
      void this.#clock.sleep(BATCH_MS, this.#closed.signal).then(() => this.#flush())
  }

  /** Contract: sends the viewer new events, and first those after the id `last`. Call the result when it leaves. */
  join(viewer: Viewer, last: string | undefined): () => void {
    this.#hadViewer = true
    viewer.send(this.#greeting(last))
    const left = new AbortController()
    this.#viewers.set(viewer, left)
    void this.#keepAlive(viewer, left.signal)
    this.#checkedToken = null
    void this.#checkTokens()
    for (const resolve of this.#onViewer.splice(0)) resolve()
    return () => this.#leave(viewer)
  }

  viewers(): number {
    return this.#viewers.size
  }

  /** Contract: whether there has been a viewer since the process started; without one, events need not be kept. */
  hadViewers(): boolean {
    return this.#hadViewer
  }

  /** Contract: resolves when there is a viewer, or when the stream is closed. */
  untilViewed(): Promise<void> {
    if (this.#viewers.size > 0 || this.#closed.signal.aborted) return Promise.resolve()
    return new Promise((resolve) => this.#onViewer.push(resolve))
  }

  close(): void {
    this.#closed.abort()
    for (const viewer of [...this.#viewers.keys()]) this.#disconnect(viewer)
    for (const resolve of this.#onViewer) resolve()
    this.#onViewer = []
  }

  /** What a viewer gets first: the server's time, and the events that it missed, or that it missed too many. */
  #greeting(last: string | undefined): Buffer {
    const recent = this.#recent
    const missed = last === undefined ? { id: recent.lastId(), chunks: [] } : recent.after(last)
    const hello = message('hello', { now: this.#clock.now() }, missed?.id ?? recent.lastId())
    const reset = { last, reason: 'later events are not kept: fetch everything anew' }
    const chunks = missed?.chunks ?? [message('reset', reset, recent.lastId())]
    return Buffer.concat([Buffer.from(`retry: ${RECONNECT_MS}\n`), hello, ...chunks])
  }

  #flush(): void {
    const chunk = this.#recent.add(this.#pending)
    this.#pending = []
    this.#dropUnauthorized()
    for (const viewer of [...this.#viewers.keys()]) this.#sendTo(viewer, chunk)
  }

  #sendTo(viewer: Viewer, chunk: Buffer): void {
    if (viewer.unsentBytes() <= MAX_UNSENT_BYTES) viewer.send(chunk)
    else this.#disconnect(viewer)
  }

  async #keepAlive(viewer: Viewer, left: AbortSignal): Promise<void> {
    while (!left.aborted) {
      await this.#clock.sleep(KEEP_ALIVE_MS, left)
      if (!left.aborted) this.#sendTo(viewer, Buffer.from(':\n\n'))
    }
  }

  /** Checks the viewers' credentials periodically, so that they are also checked while there are no events. */
  async #checkTokens(): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    while (this.#viewers.size > 0 && !this.#closed.signal.aborted) {
      await this.#clock.sleep(CHECK_MS, this.#closed.signal)
      this.#dropUnauthorized()
    }
    this.#isChecking = false
  }

  /** Contract: disconnects viewers whose token was replaced or removed. */
  #dropUnauthorized(): void {
    const current = this.#token()
    if (current === this.#checkedToken) return
    this.#checkedToken = current
    for (const viewer of [...this.#viewers.keys()]) if (!viewer.isAuthorized()) this.#disconnect(viewer)
  }

  #disconnect(viewer: Viewer): void {
    this.#leave(viewer)
    viewer.drop()
  }

  #leave(viewer: Viewer): void {
    this.#viewers.get(viewer)?.abort()
    this.#viewers.delete(viewer)
  }
}

/** The last events, as they were sent, numbered without gaps. */
class RecentEvents {
  readonly #idPrefix: string
  readonly #kept: KeptEvent[] = []
  #keptBytes = 0
  #seq = 0

  constructor(idPrefix: string) {
    this.#idPrefix = idPrefix
  }

  /** Contract: numbers and keeps the events; returns them as they are sent. */
  add(events: readonly LiveMessage[]): Buffer {
    const chunks = events.map(({ name, data }) => {
      this.#seq += 1
      const chunk = message(name, data, this.lastId())
      this.#kept.push({ seq: this.#seq, chunk })
      this.#keptBytes += chunk.length
      return chunk
    })
    while (this.#keptBytes > MAX_KEPT_BYTES) this.#keptBytes -= this.#kept.shift()?.chunk.length ?? this.#keptBytes
    return Buffer.concat(chunks)
  }

  lastId(): string {
    return `${this.#idPrefix}.${this.#seq}`
  }

  /** Contract: the events after the id; undefined if some are no longer kept, or the id is unknown. */
  after(id: string): { readonly id: string; readonly chunks: readonly Buffer[] } | undefined {
    const prefix = `${this.#idPrefix}.`
    const at = id.startsWith(prefix) ? Number(id.slice(prefix.length)) : Number.NaN
    const first = this.#kept[0]?.seq ?? this.#seq + 1
    if (!Number.isInteger(at) || at > this.#seq || at < first - 1) return undefined
    return { id: `${prefix}${at}`, chunks: this.#kept.slice(at - first + 1).map(({ chunk }) => chunk) }
  }
}

interface KeptEvent {
  readonly seq: number
  readonly chunk: Buffer
}

function message(name: string, data: unknown, id: string): Buffer {
  return Buffer.from(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
}
