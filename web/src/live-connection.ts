/**
 * The stream of live events. Reconnects after the server was away or the machine slept, and continues after the last
 * event that it received. It is read with `fetch`, not with EventSource, which would not notice a connection that died
 * while the machine slept, and forgets its place when the server refuses it once.
 */

import { EVENTS } from './api.ts'
import { MessageReader } from './message-reader.ts'

/** The server writes at least every 15 seconds; a connection that is silent for longer is dead. */
const SILENCE_MS = 40_000
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000
const CHECK_MS = 5000
/** After so long, a hidden tab lets its connection go: tabs share six to a server, and a seventh would get none. */
const HIDDEN_MS = 5000
const GLANCE_MS = 15_000

interface LiveHandlers {
  onMessage(name: string, data: unknown): void
  /** The connection ended, or could not be made; it is tried again. */
  onLost(): void
  /** The tab is hidden and has no connection; called now and then, until it is shown. */
  onGlance(): void
  /** The server refuses the login. */
  onUnauthorized(): void
}

export class LiveConnection {
  readonly #handlers: LiveHandlers
  readonly #closed = new AbortController()
  #current: AbortController | undefined
  readonly #messages = new MessageReader()
  #lastBytesAt = 0
  #pause = FIRST_PAUSE_MS
  #wake: () => void = () => {}
  /** A tab that is opened in the background is hidden from the start. */
  #hiddenAt = Number.NEGATIVE_INFINITY

  constructor(handlers: LiveHandlers) {
    this.#handlers = handlers
    const { signal } = this.#closed
    addEventListener('online', () => this.#retryNow(), { signal })
    document.addEventListener('visibilitychange', () => this.#onVisibilityChange(), { signal })
    const timer = setInterval(() => this.#dropUseless(), CHECK_MS)
    signal.addEventListener('abort', () => clearInterval(timer))
    void this.#keepOpen()
  }

  close(): void {
    this.#closed.abort()
    this.#current?.abort()
    this.#wake()
  }

  async #keepOpen(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      if (this.#isResting()) {
        this.#handlers.onGlance()
        await this.#waitFor(GLANCE_MS)
        continue
      }
      // The reason of a failure does not matter: the stream is opened again.
      await this.#readOnce().catch(() => this.#current?.abort())
      if (this.#closed.signal.aborted || this.#isResting()) continue
      this.#handlers.onLost()
      await this.#waitFor(this.#pause)
      this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS)
    }
  }

  /** Contract: resolves earlier if it is woken. */
  #waitFor(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      setTimeout(resolve, ms)
    })
  }

  #isResting(): boolean {
    return document.visibilityState === 'hidden' && Date.now() - this.#hiddenAt >= HIDDEN_MS
  }

  async #readOnce(): Promise<void> {
    const current = new AbortController()
    this.#current = current
    this.#lastBytesAt = Date.now()
    const lastId = this.#messages.begin()
    const headers: HeadersInit = lastId === '' ? {} : { 'Last-Event-ID': lastId }
    const response = await fetch(EVENTS, { headers, cache: 'no-store', signal: current.signal })
    if (response.status === 401) {
      this.close()
      this.#handlers.onUnauthorized()
      return
    }
    if (!response.ok || response.body === null) return
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      this.#lastBytesAt = Date.now()
      this.#pause = FIRST_PAUSE_MS
      for (const { name, data } of this.#messages.read(part.value)) this.#handlers.onMessage(name, data)
    }
  }

  /** Ends a connection of a hidden tab, and one that the machine's sleep or a broken network left without a sign. */
  #dropUseless(): void {
    if (this.#isResting() || Date.now() - this.#lastBytesAt > SILENCE_MS) this.#current?.abort()
  }

  #onVisibilityChange(): void {
    if (document.visibilityState === 'hidden') this.#hiddenAt = Date.now()
    else this.#retryNow()
  }

  #retryNow(): void {
    if (document.visibilityState !== 'visible') return
    this.#pause = FIRST_PAUSE_MS
    this.#dropUseless()
    this.#wake()
  }
}
