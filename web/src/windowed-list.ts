/** Items of a long list by index, fetched in windows around what is shown, and again when something has changed. */

import { useEffect, useMemo, useReducer } from 'preact/hooks'
import type { PageState } from './page-state.ts'

const WINDOW_SIZE = 50
/** Windows that are kept; those that were shown longest ago are forgotten. */
const MAX_WINDOWS = 40

export interface ListWindow<Item> {
  readonly items: readonly Item[]
  /** How many items the whole list has. */
  readonly total: number
}

type FetchWindow<Item> = (offset: number, limit: number) => Promise<ListWindow<Item>>

class WindowedList<Item> {
  /** Undefined until the first window has arrived. */
  total: number | undefined
  readonly #fetch: FetchWindow<Item>
  readonly #onChange: () => void
  readonly #windows = new Map<number, readonly Item[]>()
  /** Windows that are up to date, or on the way. */
  readonly #fresh = new Set<number>([])
  #shown = [0]
  #version = 0

  constructor(fetch: FetchWindow<Item>, onChange: () => void) {
    this.#fetch = fetch
    this.#onChange = onChange
  }

  /** Contract: undefined while it is on the way. */
  readonly itemAt = (index: number): Item | undefined =>
    this.#windows.get(Math.floor(index / WINDOW_SIZE))?.[index % WINDOW_SIZE]

  /** Contract: fetches what is missing of these rows; for `onRange` of a VirtualList. */
  readonly showRange = (first: number, last: number): void => {
    const from = Math.floor(first / WINDOW_SIZE)
    this.#shown = Array.from({ length: Math.floor(last / WINDOW_SIZE) - from + 1 }, (_, at) => from + at)
    void this.#fetchShown().catch(() => {})
  }

  /** Contract: what is shown is fetched again; the rest when it is shown. What was fetched stays until then. */
  readonly refresh = (): Promise<unknown> => {
    this.#version += 1
    this.#fresh.clear()
    return this.#fetchShown()
  }

  #fetchShown(): Promise<unknown> {
    return Promise.all(this.#shown.filter((each) => !this.#fresh.has(each)).map((each) => this.#fetchWindow(each)))
  }

  async #fetchWindow(window: number): Promise<void> {
    const version = this.#version
    this.#fresh.add(window)
    try {
      const { items, total } = await this.#fetch(window * WINDOW_SIZE, WINDOW_SIZE)
      if (version !== this.#version) return
      this.total = total
      this.#windows.delete(window)
      this.#windows.set(window, items)
      for (const oldest of [...this.#windows.keys()].slice(0, -MAX_WINDOWS)) this.#forget(oldest)
      this.#onChange()
    } catch (thrown) {
      if (version === this.#version) this.#fresh.delete(window)
      throw thrown
    }
  }

  #forget(window: number): void {
    this.#windows.delete(window)
    this.#fresh.delete(window)
  }
}

/** Contract: the list that `fetch` reads; another `key` (its filters) is another list. */
export function useWindowedList<Item>(page: PageState, key: string, fetch: FetchWindow<Item>): WindowedList<Item> {
  const [, redraw] = useReducer((drawn: number) => drawn + 1, 0)
  const list = useMemo(() => new WindowedList(fetch, () => redraw(undefined)), [key])
  useEffect(() => page.keepFresh(list.refresh), [page, list])
  return list
}
