/**
 * A list of any length: only the rows near the window are elements. The page itself scrolls. Heights are measured, so
 * rows may differ and change; a row must not have a margin, because margins are not measured.
 */

import type { ComponentChild, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import { RowHeights } from './row-heights.ts'

/** Rows beyond each edge of the window. */
const SPARE_ROWS = 6

interface VirtualListProps {
  readonly count: number
  /** Expected height of a row in pixels. */
  readonly rowHeight: number
  /** What screen readers call the list. */
  readonly label: string
  /** Contract: the content of a row, also while its data is on the way. Its first link or button takes the focus. */
  row(index: number): ComponentChild
  /** The row to scroll to when this changes; negative: none. */
  readonly reveal?: number
  /** Contract: called with the first and the last row whenever others come into view, to fetch their data. */
  onRange?(first: number, last: number): void
}

export function VirtualList({ count, rowHeight, label, row, reveal = -1, onRange }: VirtualListProps) {
  const list = useRef<HTMLUListElement>(null)
  const heights = useMemo(() => new RowHeights(rowHeight), [rowHeight])
  heights.resize(count)
  const [range, redraw] = useVisibleRange(list, heights)
  const last = Math.min(range.last, count - 1)
  const { focused, ...focusEvents } = useRowFocus(list, count)
  const observer = useMeasuring(list, heights, redraw)
  useReveal(list, heights, reveal)
  useEffect(() => {
    if (count > 0) onRange?.(range.first, last)
  }, [range.first, last, count, onRange])
  return (
    <ul ref={list} class="relative" aria-label={label} style={{ height: `${heights.total}px` }} {...focusEvents}>
      {rowsToDraw(range.first, last, focused).map((index) => (
        <Row key={index} observer={observer} index={index} count={count} top={heights.topOf(index)}>
          {row(index)}
        </Row>
      ))}
    </ul>
  )
}

/** The focused row stays an element wherever the page is scrolled to, otherwise the focus would be lost. */
function rowsToDraw(first: number, last: number, focused: number): readonly number[] {
  const rows = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at)
  if (focused < 0 || (focused >= first && focused <= last)) return rows
  return focused < first ? [focused, ...rows] : [...rows, focused]
}

interface RowProps {
  readonly observer: ResizeObserver
  readonly index: number
  readonly count: number
  readonly top: number
  readonly children: ComponentChild
}

function Row({ observer, index, count, top, children }: RowProps) {
  const element = useRef<HTMLLIElement>(null)
  useLayoutEffect(() => {
    const row = element.current
    if (!row) return
    observer.observe(row)
    return () => observer.unobserve(row)
  }, [observer])
  const place = { 'data-row': index, 'aria-posinset': index + 1, 'aria-setsize': count }
  return (
    <li ref={element} class="absolute inset-x-0" style={{ top: `${top}px` }} {...place}>
      {children}
    </li>
  )
}

interface VisibleRange {
  readonly first: number
  readonly last: number
}

type ListRef = RefObject<HTMLUListElement | null>

const addSpare = ({ first, last }: VisibleRange): VisibleRange => ({
  first: Math.max(0, first - SPARE_ROWS),
  last: last + SPARE_ROWS,
})

/** Contract: the rows near the window, and a function that finds them again and draws the list. */
function useVisibleRange(list: ListRef, heights: RowHeights): readonly [VisibleRange, () => void] {
  const [range, setRange] = useState<VisibleRange>({ first: 0, last: SPARE_ROWS })
  const [, drawAgain] = useReducer((drawn: number) => drawn + 1, 0)
  const findVisible = (): VisibleRange => {
    const top = -(list.current?.getBoundingClientRect().top ?? 0)
    return { first: heights.rowAt(top), last: heights.rowAt(top + innerHeight) }
  }
  const keepOrReplace = (was: VisibleRange, next: VisibleRange): VisibleRange =>
    was.first === next.first && was.last === next.last ? was : next
  const read = (): void => {
    const visible = findVisible()
    // After a jump all rows are new: the spare ones are left for another task, so that none takes long.
    const isJump = visible.first > range.last || visible.last < range.first
    setRange((was) => keepOrReplace(was, isJump ? visible : addSpare(visible)))
  }
  // Also after the list got longer, and when what is above it changed its height.
  useLayoutEffect(() => {
    const visible = findVisible()
    const isWithin = visible.first >= range.first && visible.last <= range.last
    if (!isWithin) read()
  })
  useEffect(() => setRange((was) => keepOrReplace(was, addSpare(findVisible()))), [range])
  useEffect(() => {
    addEventListener('scroll', read, { passive: true })
    addEventListener('resize', read)
    return () => {
      removeEventListener('scroll', read)
      removeEventListener('resize', read)
    }
  }, [heights, range])
  return [range, () => drawAgain(undefined)]
}

/** Contract: measures the rows that it is given; what the owner looks at stays where it is. */
function useMeasuring(list: ListRef, heights: RowHeights, redraw: () => void): ResizeObserver {
  const observer = useMemo(
    () =>
      new ResizeObserver((entries) => {
        const above = -(list.current?.getBoundingClientRect().top ?? 0)
        let moved = 0
        let isChanged = false
        for (const { target, borderBoxSize } of entries) {
          const row = Number((target as HTMLElement).dataset.row)
          const isAbove = heights.topOf(row) < above
          const change = heights.measure(row, borderBoxSize[0]?.blockSize ?? 0)
          isChanged ||= change !== 0
          if (isAbove) moved += change
        }
        if (isChanged) redraw()
        if (moved !== 0) scrollBy({ top: moved, behavior: 'instant' })
      }),
    [heights],
  )
  useEffect(() => () => observer.disconnect(), [observer])
  return observer
}

/** Space above a row that is scrolled to, in pixels. */
const REVEAL_PX = 80

/** Scrolls to the row, unless it is in the window already. */
function useReveal(list: ListRef, heights: RowHeights, row: number): void {
  useLayoutEffect(() => {
    if (row < 0) return
    const top = (list.current?.getBoundingClientRect().top ?? 0) + heights.topOf(row)
    if (top < 0 || top > innerHeight - REVEAL_PX) scrollBy({ top: top - REVEAL_PX, behavior: 'instant' })
  }, [row])
}

interface RowFocus {
  /** The row with the focus; -1 if it is elsewhere. */
  readonly focused: number
  onFocusIn(event: FocusEvent): void
  onFocusOut(event: FocusEvent): void
  onKeyDown(event: KeyboardEvent): void
}

/** Arrow keys, Home and End move the focus from row to row, also to rows that are not elements yet. */
function useRowFocus(list: ListRef, count: number): RowFocus {
  const [focused, setFocused] = useState(-1)
  const wanted = useRef(-1)
  useLayoutEffect(() => {
    if (wanted.current < 0) return
    const row = list.current?.querySelector(`[data-row="${wanted.current}"]`)
    wanted.current = -1
    row?.querySelector<HTMLElement>('a, button')?.focus()
  })
  return {
    focused: Math.min(focused, count - 1),
    onFocusIn: ({ target }) => setFocused(rowOf(target)),
    onFocusOut: ({ relatedTarget }) => {
      if (wanted.current < 0) setFocused(rowOf(relatedTarget))
    },
    onKeyDown(event) {
      const next = nextRow(event, rowOf(event.target), count)
      if (next === undefined) return
      event.preventDefault()
      wanted.current = next
      setFocused(next)
    },
  }
}

function rowOf(target: EventTarget | null): number {
  const row = target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null
  return row ? Number(row.dataset.row) : -1
}

function nextRow(event: KeyboardEvent, from: number, count: number): number | undefined {
  const isField = event.target instanceof Element && event.target.matches('input, textarea, select')
  if (isField || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return undefined
  const targets: Readonly<Record<string, number>> = { ArrowDown: from + 1, ArrowUp: from - 1, Home: 0, End: count - 1 }
  const next = targets[event.key]
  return next === undefined || next < 0 || next >= count || next === from ? undefined : next
}
