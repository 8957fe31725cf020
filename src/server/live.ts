/**
 * Live: what is told, numbered without gaps, to everybody who watches. The latest of it is kept, so that who was cut off goes on where
 * they were; who comes too late for that, or from another life of this process, is told to fetch anew. Nobody is waited for.
 */

import type { Clock } from '../ports/clock.ts'
import { joined, type Told } from './telling.ts'

/** Told together: a person sees no difference, and twenty viewers of a busy kernel cost twenty writes instead of thousands. */
const BATCH_MS = 30
const KEEP_ALIVE_MS = 15_000
const MOST_KEPT_BYTES = 1024 * 1024
/** Who is further behind than this is dropped. More than is kept, or whoever asks for all of it would be. */
const MOST_BEHIND_BYTES = 2 * MOST_KEPT_BYTES
const RECONNECT_MS = 1000
/** How often the token is looked at while somebody watches and nothing is told. */
const CHECK_MS = 1000

export interface Viewer {
  send(chunk: Buffer): void
  /** Bytes that were sent and not taken yet. */
  behind(): number
  /** Contract: ends it at once. */
  drop(): void
  /** Contract: whether what it showed when it came would still let it in. */
  isAuthorized(): boolean
}

export interface Live {
  tell(told: Told): void
  /** Contract: from now on, or from behind `last` if that is still there; call the result when the viewer is gone. */
  join(viewer: Viewer, last: string | undefined): () => void
  viewers(): number
  /** Contract: whether anybody has watched in this life: before that, nobody can ask for what was told. */
  isFollowed(): boolean
  /** Contract: resolves when somebody watches, or when it is closed. */
  watched(): Promise<void>
  close(): void
}

interface Kept {
  readonly seq: number
  readonly chunk: Buffer
}

export interface LiveOptions {
  readonly clock: Clock
  /** Sets the ids of this process apart from those of another. */
  readonly life: string
  /** Contract: as it is in this moment; when it changes, viewers are asked whether they are still authorized. */
  token(): string | undefined
}

export function createLive({ clock, life, token }: LiveOptions): Live {
  const kept: Kept[] = []
  const viewers = new Map<Viewer, AbortController>()
  const closed = new AbortController()
  let keptBytes = 0
  let seq = 0
  let pending: Told[] = []
  let followed = false
  let waiting: (() => void)[] = []
  /** The token that all viewers were checked against; null: none since the last one joined. */
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
    while (keptBytes > MOST_KEPT_BYTES) keptBytes -= kept.shift()?.chunk.length ?? keptBytes
    const all = Buffer.concat(chunks)
    dropUnauthorized()
    for (const viewer of [...viewers.keys()]) send(viewer, all)
  }

  function send(viewer: Viewer, chunk: Buffer): void {
    if (viewer.behind() <= MOST_BEHIND_BYTES) {
      viewer.send(chunk)
      return
    }
    leave(viewer)
    viewer.drop()
  }

  /** Contract: whoever came in with a token that has been replaced or removed is told nothing more. */
  function dropUnauthorized(): void {
    const now = token()
    if (now === checkedToken) return
    checkedToken = now
    for (const viewer of [...viewers.keys()]) {
      if (viewer.isAuthorized()) continue
      leave(viewer)
      viewer.drop()
    }
  }

  /** Also while there is nothing to tell. */
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

  /** Contract: undefined where what follows `last` is not there any more, or never was. */
  function behind(last: string): { readonly seq: number; readonly chunks: readonly Buffer[] } | undefined {
    const at = last.startsWith(`${life}.`) ? Number(last.slice(life.length + 1)) : Number.NaN
    const first = kept[0]?.seq ?? seq + 1
    if (!Number.isInteger(at) || at > seq || at < first - 1) return undefined
    return { seq: at, chunks: kept.slice(at - first + 1).map(({ chunk }) => chunk) }
  }

  return {
    tell(told) {
      if (closed.signal.aborted || !followed) return
      const one = joined(pending.at(-1), told)
      if (one) pending[pending.length - 1] = one
      else if (pending.push(told) === 1) void clock.sleep(BATCH_MS, closed.signal).then(flush)
    },
    join(viewer, last) {
      followed = true
      const past = last === undefined ? { seq, chunks: [] } : behind(last)
      const hello = message('hello', { now: clock.now() }, idOf(past?.seq ?? seq))
      const reset = past ? [] : [message('reset', { last, reason: 'what followed is not kept: fetch anew' }, idOf(seq))]
      viewer.send(Buffer.concat([Buffer.from(`retry: ${RECONNECT_MS}\n`), hello, ...reset, ...(past?.chunks ?? [])]))
      const left = new AbortController()
      viewers.set(viewer, left)
      void keepAlive(viewer, left.signal)
      checkedToken = null
      void checkTokens()
      for (const resolve of waiting.splice(0)) resolve()
      return () => leave(viewer)
    },
    viewers: () => viewers.size,
    isFollowed: () => followed,
    watched: () =>
      viewers.size > 0 || closed.signal.aborted ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)),
    close() {
      closed.abort()
      for (const viewer of [...viewers.keys()]) {
        leave(viewer)
        viewer.drop()
      }
      for (const resolve of waiting) resolve()
      waiting = []
    },
  }
}

function message(name: string, data: unknown, id: string): Buffer {
  return Buffer.from(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
}
