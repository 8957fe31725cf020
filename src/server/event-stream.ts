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

export interface Viewer {
  send(chunk: Buffer): void
  /** Bytes that were sent but that the client has not received yet. */
  unsentBytes(): number
  /** Contract: closes the connection at once. */
  drop(): void
  /** Contract: whether the credentials of the viewer are still valid. */
  isAuthorized(): boolean
}

export interface EventStream {
  send(told: LiveMessage): void
  /** Contract: sends the viewer new events, and first those after the id `last`. Call the result when it leaves. */
  join(viewer: Viewer, last: string | undefined): () => void
  viewers(): number
  /** Contract: whether there has been a viewer since the process started; without one, events need not be kept. */
  hadViewers(): boolean
  /** Contract: resolves when there is a viewer, or when the stream is closed. */
  untilViewed(): Promise<void>
  close(): void
}

interface KeptEvent {
  readonly seq: number
  readonly chunk: Buffer
}

export interface EventStreamOptions {
  readonly clock: Clock
  /** Prefix of this process's event ids. */
  readonly idPrefix: string
  /** Contract: the current token; when it changes, the credentials of all viewers are checked again. */
  token(): string | undefined
}

export function createEventStream({ clock, idPrefix: life, token }: EventStreamOptions): EventStream {
  const kept: KeptEvent[] = []
  const viewers = new Map<Viewer, AbortController>()
  const closed = new AbortController()
  let keptBytes = 0
  let seq = 0
  let pending: LiveMessage[] = []
  let hadViewer = false
  let onViewer: (() => void)[] = []
  /** The token when all viewers were last checked; null: a viewer has joined since that check. */
  let checkedToken: string | undefined | null = null
  let isChecking = false

  const idOf = (at: number): string => `${life}.${at}`

  function flush(): void {
    const chunks = pending.map(({ name, data }) => {
      seq += 1
      const chunk = message(name, data, idOf(seq))
      kept.push({ seq, chunk })
      keptBytes += chunk.length
      return chunk
    })
    pending = []
    while (keptBytes > MAX_KEPT_BYTES) keptBytes -= kept.shift()?.chunk.length ?? keptBytes
    const all = Buffer.concat(chunks)
    dropUnauthorized()
    for (const viewer of [...viewers.keys()]) send(viewer, all)
  }

  function send(viewer: Viewer, chunk: Buffer): void {
    if (viewer.unsentBytes() <= MAX_UNSENT_BYTES) {
      viewer.send(chunk)
      return
    }
    leave(viewer)
    viewer.drop()
  }

  /** Contract: disconnects viewers whose token was replaced or removed. */
  function dropUnauthorized(): void {
    const current = token()
    if (current === checkedToken) return
    checkedToken = current
    for (const viewer of [...viewers.keys()]) {
      if (viewer.isAuthorized()) continue
      leave(viewer)
      viewer.drop()
    }
  }

  /** Checks the viewers' credentials periodically, so that they are also checked while there are no events. */
  async function checkTokens(): Promise<void> {
    if (isChecking) return
    isChecking = true
    while (viewers.size > 0 && !closed.signal.aborted) {
      await clock.sleep(CHECK_MS, closed.signal)
      dropUnauthorized()
    }
    isChecking = false
  }

  function leave(viewer: Viewer): void {
    viewers.get(viewer)?.abort()
    viewers.delete(viewer)
  }

  async function keepAlive(viewer: Viewer, left: AbortSignal): Promise<void> {
    while (!left.aborted) {
      await clock.sleep(KEEP_ALIVE_MS, left)
      if (!left.aborted) send(viewer, Buffer.from(':\n\n'))
    }
  }

  /** Contract: the events after the id `last`; undefined if some are no longer kept, or the id is unknown. */
  function eventsAfter(last: string): { readonly seq: number; readonly chunks: readonly Buffer[] } | undefined {
    const at = last.startsWith(`${life}.`) ? Number(last.slice(life.length + 1)) : Number.NaN
    const first = kept[0]?.seq ?? seq + 1
    if (!Number.isInteger(at) || at > seq || at < first - 1) return undefined
    return { seq: at, chunks: kept.slice(at - first + 1).map(({ chunk }) => chunk) }
  }

  return {
    send(event) {
      if (closed.signal.aborted || !hadViewer) return
      const merged = mergeTextDeltas(pending.at(-1), event)
      if (merged) pending[pending.length - 1] = merged
      else if (pending.push(event) === 1) void clock.sleep(BATCH_MS, closed.signal).then(flush)
    },
    join(viewer, last) {
      hadViewer = true
      const missed = last === undefined ? { seq, chunks: [] } : eventsAfter(last)
      const hello = message('hello', { now: clock.now() }, idOf(missed?.seq ?? seq))
      const reset = missed
        ? []
        : [message('reset', { last, reason: 'later events are not kept: fetch everything anew' }, idOf(seq))]
      viewer.send(Buffer.concat([Buffer.from(`retry: ${RECONNECT_MS}\n`), hello, ...reset, ...(missed?.chunks ?? [])]))
      const left = new AbortController()
      viewers.set(viewer, left)
      void keepAlive(viewer, left.signal)
      checkedToken = null
      void checkTokens()
      for (const resolve of onViewer.splice(0)) resolve()
      return () => leave(viewer)
    },
    viewers: () => viewers.size,
    hadViewers: () => hadViewer,
    untilViewed: () =>
      viewers.size > 0 || closed.signal.aborted ? Promise.resolve() : new Promise((resolve) => onViewer.push(resolve)),
    close() {
      closed.abort()
      for (const viewer of [...viewers.keys()]) {
        leave(viewer)
        viewer.drop()
      }
      for (const resolve of onViewer) resolve()
      onViewer = []
    },
  }
}

function message(name: string, data: unknown, id: string): Buffer {
  return Buffer.from(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
}
