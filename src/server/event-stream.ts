/**
 * Server-sent events, numbered without gaps. Recent events are kept, so that a viewer (a client of the stream) can
 * reconnect and continue. A viewer that is too late, or was connected to an earlier process, gets `reset` and must
 * fetch everything anew. A slow viewer is disconnected, never waited for.
 */

import type { Clock } from '../ports/clock.ts'
import { StreamPart } from './compressed-stream.ts'
import { joinTextDeltas, type LiveMessage } from './live-message.ts'
import { encodeMessage, MAX_KEPT_BYTES, RecentEvents } from './recent-events.ts'

/**
 * Events are sent in batches, because many viewers of a busy kernel would cause thousands of writes. After a
 * batch of many events, which come faster than a person reads, the next one may take longer.
 */
const BATCH_MS = 30
const MANY_EVENTS = 50
const LONG_BATCH_MS = 250
/** A display of so many changes too fast to be read, so that a delay is not noticed. */
const TOO_MANY_EVENTS = 1000
const LONGEST_BATCH_MS = 500
/** With fewer, the caches of the processor are cold each time; more would live until the next garbage collection. */
const ENCODED_AT_ONCE = 32
const KEEP_ALIVE_MS = 15_000
/**
 * A viewer with more unsent bytes is disconnected. Must exceed MAX_KEPT_BYTES, which a reconnect may send at once.
 * Later bytes are the same for all viewers, so many slow ones need hardly more memory than one.
 */
const MAX_UNSENT_BYTES = 2 * MAX_KEPT_BYTES
const RECONNECT_MS = 1000
/** Events are kept for so long after the last viewer left. */
const FORGET_MS = 5 * 60_000
/** How often the viewers' credentials are checked, also while there are no events. */
const CHECK_MS = 1000
const KEEP_ALIVE = StreamPart.of(Buffer.from(':\n\n'))
const RETRY = StreamPart.of(Buffer.from(`retry: ${RECONNECT_MS}\n`))

function batchMsAfter(count: number): number {
  if (count < MANY_EVENTS) return BATCH_MS
  return count < TOO_MANY_EVENTS ? LONG_BATCH_MS : LONGEST_BATCH_MS
}

interface Viewer {
  send(part: StreamPart): void
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
  /** Called when events are wanted; its result, when they are no longer. */
  onWanted?(): () => void
  /** Called with the error of a batch that cannot be sent; the viewers are told to fetch everything anew. */
  onFailed?(thrown: unknown): void
}

export class EventStream {
  readonly #clock: Clock
  readonly #token: () => string | undefined
  readonly #recent: RecentEvents
  readonly #viewers = new Map<Viewer, AbortController>()
  readonly #closed = new AbortController()
  /** Not encoded yet. */
  #pending: LiveMessage[] = []
  /** By run: messages that are made when the next batch is sent, unless an event overtakes them. */
  readonly #later = new Map<string, (() => LiveMessage)[]>()
  /** Whether the next batch is waited for. */
  #isWaiting = false
  #batchMs = BATCH_MS
  #hadViewer = false
  readonly #onWanted: () => () => void
  readonly #onFailed: (thrown: unknown) => void
  #onUnwanted = (): void => {}
  /** How often the last viewer has left. */
  #emptyPeriods = 0
  #onViewer: (() => void)[] = []
  /** The token when all viewers were last checked; null: a viewer has joined since that check. */
  #checkedToken: string | undefined | null = null
  #isChecking = false

  constructor({ clock, idPrefix, token, onWanted, onFailed }: EventStreamOptions) {
    this.#clock = clock
    this.#onWanted = onWanted ?? (() => () => {})
    this.#onFailed = onFailed ?? (() => {})
    this.#token = token
    this.#recent = new RecentEvents(idPrefix)
  }

  send(message: LiveMessage): void {
    if (!this.#hadViewer) return
    this.#pending.push(message)
    if (this.#pending.length === ENCODED_AT_ONCE) this.#encode()
    void this.#sendBatches()
  }

  /**
   * Progress of a run. If events come faster than a person reads, it is made and sent last in the batch, and not at all
   * if `overtake` is called before: a step that begins and ends within a batch is seen from its events alone.
   */
  sendLater(run_id: string, make: () => LiveMessage): void {
    const later = this.#later.get(run_id) ?? []
    later.push(make)
    this.#later.set(run_id, later)
    if (this.#batchMs > BATCH_MS && later.length < MANY_EVENTS) void this.#sendBatches()
    else for (const each of later.splice(0)) this.send(each())
  }

  /** Events say what the progress of the run has said until now. */
  overtake(run_id: string): void {
    this.#later.delete(run_id)
  }

  /** Contract: sends the viewer new events, and first those after the id `last`. Call the result when it leaves. */
  join(viewer: Viewer, last: string | undefined): () => void {
    if (!this.#hadViewer) this.#onUnwanted = this.#onWanted()
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

  /** Events were left out: the viewers must fetch everything anew. */
  reset(): void {
    if (!this.#hadViewer) return
    this.#forget()
    const reset = { reason: 'events were left out: fetch everything anew' }
    const message = encodeMessage('reset', reset, this.#recent.lastId())
    for (const viewer of [...this.#viewers.keys()]) this.#sendTo(viewer, message)
  }

  viewers(): number {
    return this.#viewers.size
  }

  /** Contract: whether there is or recently was a viewer; without one, events need not be kept. */
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
    this.#hadViewer = false
    this.#onUnwanted()
    for (const viewer of [...this.#viewers.keys()]) this.#disconnect(viewer)
    for (const resolve of this.#onViewer) resolve()
    this.#onViewer = []
  }

  /** What a viewer gets first: the server's time, and the events that it missed, or that it missed too many. */
  #greeting(last: string | undefined): StreamPart {
    const recent = this.#recent
    const missed = last === undefined ? { id: recent.lastId(), parts: [] } : recent.after(last)
    const hello = encodeMessage('hello', { now: this.#clock.now() }, missed?.id ?? recent.lastId())
    const reset = { last, reason: 'later events are not kept: fetch everything anew' }
    const parts = missed?.parts ?? [encodeMessage('reset', reset, recent.lastId())]
    return StreamPart.join([RETRY, hello, ...parts])
  }

  /** Ends when there is nothing left to send. */
  async #sendBatches(): Promise<void> {
    if (this.#isWaiting) return
    this.#isWaiting = true
    try {
      while (this.#pending.length > 0 || this.#later.size > 0 || this.#recent.addedCount() > 0) {
        await this.#clock.sleep(this.#batchMs, this.#closed.signal)
        if (this.#closed.signal.aborted) break
        await this.#flush().catch((thrown) => {
          this.#onFailed(thrown)
          this.reset()
        })
      }
    } finally {
      this.#isWaiting = false
    }
  }

  #encode(): void {
    const messages = joinTextDeltas(this.#pending)
    this.#pending = []
    this.#recent.add(messages)
  }

  async #flush(): Promise<void> {
    this.#encode()
    this.#recent.add([...this.#later.values()].flat().map((make) => make()))
    this.#later.clear()
    const count = this.#recent.addedCount()
    // Forgotten meanwhile.
    if (count === 0) return
    this.#batchMs = batchMsAfter(count)
    const part = await this.#recent.takeAdded()
    if (!part || this.#closed.signal.aborted) return
    this.#dropUnauthorized()
    for (const viewer of [...this.#viewers.keys()]) this.#sendTo(viewer, part)
  }

  #forget(): void {
    this.#pending = []
    this.#later.clear()
    this.#recent.forget()
  }

  #sendTo(viewer: Viewer, part: StreamPart): void {
    if (viewer.unsentBytes() > MAX_UNSENT_BYTES) this.#disconnect(viewer)
    else viewer.send(part)
  }

  async #keepAlive(viewer: Viewer, left: AbortSignal): Promise<void> {
    while (!left.aborted) {
      await this.#clock.sleep(KEEP_ALIVE_MS, left)
      if (!left.aborted) this.#sendTo(viewer, KEEP_ALIVE)
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
    if (this.#viewers.delete(viewer) && this.#viewers.size === 0) void this.#forgetLater()
  }

  /** Without viewers, events are kept for a while, then neither encoded nor kept, until there is a viewer again. */
  async #forgetLater(): Promise<void> {
    this.#emptyPeriods += 1
    const period = this.#emptyPeriods
    await this.#clock.sleep(FORGET_MS, this.#closed.signal)
    if (this.#viewers.size > 0 || period !== this.#emptyPeriods || this.#closed.signal.aborted) return
    this.#hadViewer = false
    this.#onUnwanted()
    this.#forget()
  }
}
