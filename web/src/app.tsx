/** Shows the page, or the login form. */

import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import { isLoggedIn, login } from './api.ts'
import type { Language } from './format.ts'
import { Login } from './login.tsx'
import { PageLanguage } from './page-language.ts'
import { PageState } from './page-state.ts'
import { PlaceBoundary } from './shell/place-boundary.tsx'
import { Shell } from './shell/shell.tsx'
import { TEXTS } from './texts.ts'

const LANGUAGE_KEY = 'tireless-language'
const LONGEST_FRAME_MS = 1000

/** `spent`: the browser came by a login link that no longer works. */
type Session = 'unknown' | 'in' | 'out' | 'spent'

export function App() {
  const [language, setLanguage] = useState<Language>(preferredLanguage)
  const [session, setSession] = useState<Session>('unknown')

  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
  }, [language])
  useEffect(() => {
    void openSession().then(setSession)
    // A login link that is opened in a tab that shows the page already only changes the fragment.
    const open = (): void => void openSession().then(setSession)
    addEventListener('hashchange', open)
    return () => removeEventListener('hashchange', open)
  }, [])

  const switchLanguage = (): void => {
    const next = language === 'zh' ? 'en' : 'zh'
    localStorage.setItem(LANGUAGE_KEY, next)
    setLanguage(next)
  }
  if (session === 'unknown') return null
  if (session === 'in')
    return <LoggedIn language={language} switchLanguage={switchLanguage} onLoggedOut={() => setSession('out')} />
  const props = { texts: TEXTS[language], isLinkSpent: session === 'spent', switchLanguage }
  return <Login {...props} onLogin={() => setSession('in')} />
}

interface LoggedInProps {
  readonly language: Language
  switchLanguage(): void
  onLoggedOut(): void
}

function LoggedIn({ language, switchLanguage, onLoggedOut }: LoggedInProps) {
  const [, redraw] = useReducer((count: number, _: unknown) => count + 1, 0)
  const [page, setPage] = useState<PageState>()
  const texts = useRef(TEXTS[language])
  texts.current = TEXTS[language]
  useEffect(() => {
    let cancel: (() => void) | undefined
    // Redraw at most once per frame, however many events arrive.
    const onChange = (): void => {
      cancel ??= beforeNextFrame(() => {
        cancel = undefined
        redraw(undefined)
      })
    }
    const opened = new PageState({ onChange, onLoggedOut, texts: () => texts.current })
    setPage(opened)
    return () => {
      cancel?.()
      opened.close()
    }
  }, [])
  if (!page) return null
  return (
    <PageLanguage.Provider value={language}>
      <PlaceBoundary address="" texts={texts.current}>
        <Shell page={page} language={language} switchLanguage={switchLanguage} />
      </PlaceBoundary>
    </PageLanguage.Provider>
  )
}

/** A hidden tab has no frames, but its title and icon say what waits. Call the result to cancel it. */
function beforeNextFrame(work: () => void): () => void {
  const cancel = (): void => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
  }
  const workOnce = (): void => {
    cancel()
    work()
  }
  const frame = requestAnimationFrame(workOnce)
  const timer = setTimeout(workOnce, LONGEST_FRAME_MS)
  return cancel
}

function preferredLanguage(): Language {
  const chosen = localStorage.getItem(LANGUAGE_KEY)
  if (chosen === 'en' || chosen === 'zh') return chosen
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

/** Contract: logs in with the code of the address, if it has one, and says whether the browser is logged in. */
async function openSession(): Promise<Session> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  // Removed first, because it is valid only once.
  if (code !== null) history.replaceState(null, '', `${location.pathname}${location.search}`)
  try {
    const isAccepted = code === null || (await login({ code }).then(isTrue, isFalse))
    if (await isLoggedIn()) return 'in'
    return isAccepted ? 'out' : 'spent'
  } catch {
    // If the server does not answer, the page shows that.
    return 'in'
  }
}

const isTrue = (): boolean => true
const isFalse = (): boolean => false
