/** Entries of the log, newest first: fetched in windows towards the past, and towards now while they are followed. */

import { useEffect, useReducer, useRef } from 'preact/hooks'
import { readCommand } from '../api.ts'
import type { PageState } from '../page-state.ts'

export interface LogItem {
  readonly id: string
  readonly ts: string
  readonly level: string
  readonly event: string
  readonly [detail: string]: unknown
}
export type LogLevel = 'info' | 'warn' | 'error'

const WINDOW_SIZE = 100
/** So many windows of new entries are added to a list; with more, it begins anew. */
const MAX_WINDOWS = 10
/** New entries ring no bell: they are asked for this often while the owner follows them. */
const FOLLOW_MS = 2000

interface LogFilter {
  readonly level: LogLevel
  readonly text: string
}

class LogEntries {
  /** Newest first; undefined until the first window has arrived. */
  items: readonly LogItem[] | undefined
  hasMore = false
  readonly #filter: LogFilter
  readonly #onChange: () => void
  #isFetching = false

  constructor(filter: LogFilter, onChange: () => void) {
    this.#filter = filter
    this.#onChange = onChange
  }

  /** Contract: what is new since the last fetch is in front, however much it is. */
  async fetchNewer(): Promise<void> {
    await this.#fetchOnce(async () => {
      const after = this.items?.[0]?.id
      const fresh: LogItem[] = []
      let hasMore = true
      for (let window = 0; hasMore && window < (after === undefined ? 1 : MAX_WINDOWS); window += 1) {
        const found = await this.#search({ after, before: fresh.at(-1)?.id })
        fresh.push(...found.items)
        hasMore = found.hasMore
      }
      // Of too many, the newest are the beginning of another list: no gap looks like a list without one.
      if (hasMore || this.items === undefined) [this.items, this.hasMore] = [fresh, hasMore]
      else this.items = [...fresh, ...this.items]
    })
  }

  async fetchOlder(): Promise<void> {
    const before = this.items?.at(-1)?.id
    if (!this.hasMore || before === undefined) return
    await this.#fetchOnce(async () => {
      const { items, hasMore } = await this.#search({ before })
      this.items = [...(this.items ?? []), ...items]
      this.hasMore = hasMore
    })
  }

  /** One at a time, so that windows follow each other. */
  async #fetchOnce(fetch: () => Promise<void>): Promise<void> {
    if (this.#isFetching) return
    this.#isFetching = true
    try {
      await fetch()
      this.#onChange()
    } finally {
      this.#isFetching = false
    }
  }

  /** Contract: newest first. */
  async #search(place: { readonly after?: string | undefined; readonly before?: string | undefined }) {
    const { level, text } = this.#filter
    const found = await readCommand('logs', {
      ...{ level, lines: WINDOW_SIZE, ...place },
      ...(text === '' ? {} : { text }),
    })
    return { items: itemsOf(found?.items ?? []).toReversed(), hasMore: found?.more ?? false }
  }
}

/** A search gives every entry an id. */
const itemsOf = (found: readonly Omit<LogItem, 'id'>[]): readonly LogItem[] =>
  found.map((item) => ({ ...item, id: String(item.id) }) as LogItem)

/** Contract: another filter is another list. While `follows`, new entries appear by themselves. */
export function useLogEntries(page: PageState, { level, text }: LogFilter, follows: boolean): LogEntries {
  const [, redraw] = useReducer((drawn: number) => drawn + 1, 0)
  const key = `${level} ${text}`
  const current = useRef<{ readonly key: string; readonly entries: LogEntries }>(undefined)
  if (current.current?.key !== key)
    current.current = { key, entries: new LogEntries({ level, text }, () => redraw(undefined)) }
  const { entries } = current.current
  useEffect(() => {
    const fetch = (): Promise<void> => entries.fetchNewer()
    if (!follows) {
      void fetch().catch((thrown) => page.reportFailure(thrown))
      return
    }
    const stop = page.keepFresh(fetch)
    const timer = setInterval(() => {
      if (!document.hidden) void fetch().catch(() => {})
    }, FOLLOW_MS)
    return () => {
      stop()
      clearInterval(timer)
    }
  }, [page, entries, follows])
  return entries
}
