/** The page `Now`: live state of the kernel. */

import { useEffect, useState } from 'preact/hooks'
import type { Language } from '../format.ts'
import { type PageState, visibleRuns } from '../page-state.ts'
import { TEXTS, type Texts } from '../texts.ts'
import { Cycles } from './cycles.tsx'
import { Finished } from './finished.tsx'
import { Header } from './header.tsx'
import { KeyFigures } from './key-figures.tsx'
import { Residents } from './residents.tsx'
import { Running } from './running.tsx'
import { Waiting } from './waiting.tsx'

/** Passed to each component that shows texts or times. */
export interface ViewContext {
  readonly texts: Texts
  readonly language: Language
  /** Current time by the server's clock. */
  readonly now: number
}

interface NowProps {
  readonly page: PageState
  readonly language: Language
  switchLanguage(): void
}

export function Now({ page, language, switchLanguage }: NowProps) {
  const { view } = page
  const texts = TEXTS[language]
  const now = useNow() + view.skew
  const context = { texts, language, now }
  const state = view.status?.kernel.state ?? 'stopped'
  useEffect(() => {
    document.title = `${texts.title} · Tireless`
  }, [texts])
  return (
    <div class="mx-auto max-w-7xl px-4 pb-16 sm:px-8">
      <Header context={context} page={page} state={state} switchLanguage={switchLanguage} />
      <main class="flex flex-col gap-8">
        <KeyFigures context={context} status={view.status} />
        <div class="grid gap-8 lg:grid-cols-[minmax(0,5fr)_minmax(0,3fr)]">
          <div class="flex min-w-0 flex-col gap-8">
            <Residents context={context} page={page} />
            <Running context={context} runs={visibleRuns(view, now)} />
            <Finished context={context} recent={view.recent} />
          </div>
          <div class="flex min-w-0 flex-col gap-8">
            <Waiting context={context} view={view} />
            <Cycles context={context} cycles={view.cycles} />
          </div>
        </div>
      </main>
    </div>
  )
}

/** Updates twice a second, enough for countdowns and growing bars. */
function useNow(): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  return now
}
