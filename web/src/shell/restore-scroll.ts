/** Going back shows an address where it was left, also if its content arrives later. */

import { keepScroll, readEntry } from './router.ts'

/** What the owner does to scroll elsewhere. */
const OWNER_EVENTS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const

/** Contract: until the result is called. */
export function restoreScroll(): () => void {
  // The browser would scroll before the content is there.
  history.scrollRestoration = 'manual'
  let wanted = readEntry().scroll ?? 0
  const scroll = (): void => {
    if (wanted === 0 || document.documentElement.scrollHeight - innerHeight < wanted) return
    scrollTo({ top: wanted, behavior: 'instant' })
    wanted = 0
  }
  const observer = new ResizeObserver(scroll)
  observer.observe(document.body)
  const goBack = ({ isTrusted }: PopStateEvent): void => {
    wanted = isTrusted ? (readEntry().scroll ?? 0) : 0
    if (isTrusted && wanted === 0) scrollTo({ top: 0, behavior: 'instant' })
    scroll()
  }
  const stop = (): void => {
    wanted = 0
  }
  addEventListener('popstate', goBack)
  addEventListener('pagehide', keepScroll)
  for (const name of OWNER_EVENTS) addEventListener(name, stop, { passive: true })
  return () => {
    observer.disconnect()
    removeEventListener('popstate', goBack)
    removeEventListener('pagehide', keepScroll)
    for (const name of OWNER_EVENTS) removeEventListener(name, stop)
  }
}
