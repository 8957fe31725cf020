/** Texts, language and time for components that show them. */

import { useEffect, useState } from 'preact/hooks'
import type { Language } from './format.ts'
import type { PageState } from './page-state.ts'
import type { Texts } from './texts.ts'

export interface ViewContext {
  readonly texts: Texts
  readonly language: Language
  /** Current time by the server's clock. */
  readonly now: number
}

interface ContextSource {
  readonly page: PageState
  readonly texts: Texts
  readonly language: Language
}

/** Contract: draws the component again every `ms`, by default often enough for countdowns and growing bars. */
export function useViewContext({ page, texts, language }: ContextSource, ms = 500): ViewContext {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), ms)
    return () => clearInterval(timer)
  }, [ms])
  return { texts, language, now: Math.max(now, Date.now() - ms) + page.view.skew }
}
