/** The page `Now`: live state of the kernel. */

import { useEffect, useState } from 'preact/hooks'
import type { Language } from '../format.ts'
import { type Home, shownRuns } from '../home.ts'
import { WORDS, type Words } from '../words.ts'
import { Cycles } from './cycles.tsx'
import { Finished } from './finished.tsx'
import { Parked } from './parked.tsx'
import { Pulse } from './pulse.tsx'
import { Running } from './running.tsx'
import { Top } from './top.tsx'

/** What every component needs to show texts and times. */
export interface Scene {
  readonly words: Words
  readonly language: Language
  /** Current time by the server's clock. */
  readonly now: number
}

interface NowProps {
  readonly home: Home
  readonly language: Language
  switchLanguage(): void
}

export function Now({ home, language, switchLanguage }: NowProps) {
  const { view } = home
  const words = WORDS[language]
  const now = useNow() + view.skew
  const scene = { words, language, now }
  const state = view.status?.kernel.state ?? 'stopped'
  useEffect(() => {
    document.title = `${words.title} · Tireless`
  }, [words])
  return (
    <div class="mx-auto max-w-7xl px-4 pb-16 sm:px-8">
      <Top scene={scene} home={home} state={state} switchLanguage={switchLanguage} />
      <main class="flex flex-col gap-8">
        <Pulse scene={scene} status={view.status} />
        <div class="grid gap-8 lg:grid-cols-[minmax(0,5fr)_minmax(0,3fr)]">
          <div class="flex min-w-0 flex-col gap-8">
            <Running scene={scene} runs={shownRuns(view, now)} />
            <Finished scene={scene} recent={view.recent} />
          </div>
          <div class="flex min-w-0 flex-col gap-8">
            <Parked scene={scene} view={view} />
            <Cycles scene={scene} cycles={view.cycles} />
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
