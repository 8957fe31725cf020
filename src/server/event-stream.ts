/**
 * Server-sent events, numbered without gaps. Recent ones are kept, so that a viewer can reconnect and continue. A
 * viewer that is too late, or was connected to an earlier process, gets `reset` and must fetch everything anew. A slow
 * viewer is dropped, never waited for.
 */

import type { Clock } from '../ports/clock.ts'
import { type LiveMessage, mergeTextDeltas } from './redacting-sink.ts'

/** Events are sent in batches: with many viewers of a busy kernel that saves thousands of writes. */
const BATCH_MS = 30
const KEEP_ALIVE_MS = 15_000
const MAX_KEPT_BYTES = 1024 * 1024
/** Unsent bytes after which a viewer is dropped. Must exceed MAX_KEPT_BYTES, which a reconnect may send at once. */
const MAX_UNSENT_BYTES = 2 * MAX_KEPT_BYTES
const RECONNECT_MS = 1000
/** How often the token is checked while there are viewers but no events. */
const CHECK_MS = 1000

export interface Viewer {
  send(chunk: Buffer): void
  /** Bytes written but not yet taken by the client. */
  unsentBytes(): number
  /** Contract: closes the connection at once. */
  drop(): void
  /** Contract: whether its credentials are still valid. */
  isAuthorized(): boolean
}

export interface EventStream {
  send(told: LiveMessage): void
  /** Contract: sends events from now on, or after the id `last` if it is still kept; call the result on disconnect. */
  join(viewer: Viewer, last: string | undefined): () => void
  viewers(): number
  /** Contract: whether there has been a viewer since the process started; before, no event can be requested. */
  hadViewers(): boolean
  /** Contract: resolves when there is a viewer, or on close. */
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
  /** Contract: the current token; when it changes, viewers are checked again. */
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
  /** Token that all viewers were checked against; null: a viewer joined since. */
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

  /** Contract: drops viewers whose token was replaced or removed. */
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

  /** Checks even while there are no events. */
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

  /** Contract: the events after `last`; undefined if they are no longer kept, or `last` is unknown. */
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
