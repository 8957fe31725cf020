/**
 * The stream of live events. Reconnects after the server was away or the machine slept, and continues after the last
 * event that it received. It is read with `fetch`, not with EventSource, which would not notice a connection that died
 * while the machine slept, and forgets its place when the server refuses it once.
 */

import { EVENTS } from './api.ts'

/** The server writes at least every 15 seconds; a connection that is silent for longer is dead. */
const SILENCE_MS = 40_000
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000
const CHECK_MS = 5000

interface LiveHandlers {
  onMessage(name: string, data: unknown): void
  /** The connection ended, or could not be made; it is tried again. */
  onLost(): void
  /** The server refuses the login. */
  onUnauthorized(): void
}

export class LiveConnection {
  readonly #handlers: LiveHandlers
  readonly #closed = new AbortController()
  #current: AbortController | undefined
  #lastId = ''
  #lastBytesAt = 0
  #pause = FIRST_PAUSE_MS
  #wake: () => void = () => {}

  constructor(handlers: LiveHandlers) {
    this.#handlers = handlers
    const { signal } = this.#closed
    const retryNow = (): void => this.#retryNow()
    addEventListener('online', retryNow, { signal })
    document.addEventListener('visibilitychange', retryNow, { signal })
    const timer = setInterval(() => this.#dropSilent(), CHECK_MS)
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
      try {
        await this.#readOnce()
      } catch {
        // The reason does not matter: the stream is opened again.
      }
      if (this.#closed.signal.aborted) return
      this.#handlers.onLost()
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        setTimeout(resolve, this.#pause)
      })
      this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS)
    }
  }

  async #readOnce(): Promise<void> {
    const current = new AbortController()
    this.#current = current
    this.#lastBytesAt = Date.now()
    const headers: HeadersInit = this.#lastId === '' ? {} : { 'Last-Event-ID': this.#lastId }
    const response = await fetch(EVENTS, { headers, cache: 'no-store', signal: current.signal })
    if (response.status === 401) {
      this.close()
      this.#handlers.onUnauthorized()
      return
    }
    if (!response.ok || response.body === null) return
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      this.#lastBytesAt = Date.now()
      this.#pause = FIRST_PAUSE_MS
      const blocks = `${rest}${part.value}`.split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) this.#handleBlock(block)
    }
  }

  #handleBlock(block: string): void {
    const fields = new Map(block.split('\n').map((line) => splitField(line)))
    const [id, name, data] = [fields.get('id'), fields.get('event'), fields.get('data')]
    if (name !== undefined && data !== undefined) this.#handlers.onMessage(name, JSON.parse(data))
    if (id !== undefined) this.#lastId = id
  }

  /** Ends a connection that the machine's sleep or a broken network has left without a sign. */
  #dropSilent(): void {
    if (Date.now() - this.#lastBytesAt > SILENCE_MS) this.#current?.abort()
  }

  #retryNow(): void {
    if (document.visibilityState !== 'visible') return
    this.#pause = FIRST_PAUSE_MS
    this.#dropSilent()
    this.#wake()
  }
}

function splitField(line: string): [string, string] {
  const at = line.indexOf(':')
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1).replace(/^ /, '')]
}
