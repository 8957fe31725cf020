/** Addresses of the page: the current one, changes without a reload, and patterns such as `/runs/:id`. */

import { useEffect, useState } from 'preact/hooks'

interface Address {
  readonly path: string
  readonly query: URLSearchParams
}

const readAddress = (): Address => ({ path: location.pathname, query: new URLSearchParams(location.search) })

/** Contract: the current address; the component is drawn again when it changes. */
export function useAddress(): Address {
  const [address, setAddress] = useState(readAddress)
  useEffect(() => {
    const read = (): void => setAddress(readAddress())
    addEventListener('popstate', read)
    return () => removeEventListener('popstate', read)
  }, [])
  return address
}

/** What the history keeps of an address of the page. */
interface HistoryEntry {
  /** How far it was scrolled when it was left. */
  readonly scroll?: number
  /** The address before it, if that was one of the page. */
  readonly from?: string
}

/** Contract: what the history keeps of the current address. */
export const readEntry = (): HistoryEntry => (history.state ?? {}) as HistoryEntry

/** Contract: the history keeps how far the page is scrolled. */
export function keepScroll(): void {
  const entry: HistoryEntry = { ...readEntry(), scroll: Math.round(scrollY) }
  history.replaceState(entry, '')
}

/** Contract: goes to an address of the page; with `replace`, without an entry in the history. */
export function navigate(to: string, { replace = false } = {}): void {
  const from: HistoryEntry = { from: `${location.pathname}${location.search}` }
  if (replace) history.replaceState(readEntry(), '', to)
  else {
    keepScroll()
    history.pushState(from, '', to)
  }
  dispatchEvent(new PopStateEvent('popstate'))
  if (!replace) scrollTo(0, 0)
}

/** Contract: plain clicks on links to places change the address without a reload; call the result to stop. */
export function followLinks(): () => void {
  const follow = (event: MouseEvent): void => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    if (!link || !isPlain || event.defaultPrevented || link.target !== '' || link.hasAttribute('download')) return
    if (link.origin !== location.origin || link.pathname.startsWith('/api/') || link.hash !== '') return
    event.preventDefault()
    navigate(`${link.pathname}${link.search}`)
  }
  document.addEventListener('click', follow)
  return () => document.removeEventListener('click', follow)
}

export type Params = Readonly<Record<string, string>>

/** Contract: the values of the pattern's `:names`; undefined if the path is another one. */
export function matchPath(pattern: string, path: string): Params | undefined {
  const [wanted, given] = [pattern.split('/'), path.replace(/(?<=.)\/$/, '').split('/')]
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [at, part] of wanted.entries()) {
    const value = decodePart(given[at] ?? '')
    if (value === undefined) return undefined
    if (part.startsWith(':') && value !== '') params[part.slice(1)] = value
    else if (part !== value) return undefined
  }
  return params
}

function decodePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** Contract: whether keys are meant for a field, not for the page. */
export const isWriting = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, textarea, select, [contenteditable], dialog') !== null
