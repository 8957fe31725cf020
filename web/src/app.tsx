/** Shows the page `Now`, or the login form. */

import { useEffect, useReducer, useState } from 'preact/hooks'
import { isLoggedIn, login } from './api.ts'
import type { Language } from './format.ts'
import { Login } from './login.tsx'
import { Now } from './now/now.tsx'
import { PageState } from './page-state.ts'
import { TEXTS } from './texts.ts'

const LANGUAGE_KEY = 'tireless-language'

export function App() {
  const [language, setLanguage] = useState<Language>(preferredLanguage)
  const [session, setSession] = useState<'unknown' | 'in' | 'out'>('unknown')

  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
  }, [language])
  useEffect(() => {
    void loginByCode()
      .then(isLoggedIn)
      // If the server does not answer, the page shows that.
      .catch(() => true)
      .then((hasSession) => setSession(hasSession ? 'in' : 'out'))
  }, [])

  const switchLanguage = (): void => {
    const next = language === 'zh' ? 'en' : 'zh'
    localStorage.setItem(LANGUAGE_KEY, next)
    setLanguage(next)
  }
  const texts = TEXTS[language]
  if (session === 'unknown') return null
  if (session === 'out') return <Login texts={texts} switchLanguage={switchLanguage} onLogin={() => setSession('in')} />
  return <LoggedIn language={language} switchLanguage={switchLanguage} onLoggedOut={() => setSession('out')} />
}

interface LoggedInProps {
  readonly language: Language
  switchLanguage(): void
  onLoggedOut(): void
}

function LoggedIn({ language, switchLanguage, onLoggedOut }: LoggedInProps) {
  const [, redraw] = useReducer((count: number, _: unknown) => count + 1, 0)
  const [page, setPage] = useState<PageState>()
  useEffect(() => {
    let frame = 0
    // Redraw at most once per frame, however many events arrive.
    const draw = (): void => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(redraw)
    }
    const opened = new PageState(draw, onLoggedOut)
    setPage(opened)
    return () => {
      cancelAnimationFrame(frame)
      opened.close()
    }
  }, [])
  return page ? <Now page={page} language={language} switchLanguage={switchLanguage} /> : null
}

function preferredLanguage(): Language {
  const chosen = localStorage.getItem(LANGUAGE_KEY)
  if (chosen === 'en' || chosen === 'zh') return chosen
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

/** Removes the code from the address first; it is valid only once. */
async function loginByCode(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return
  history.replaceState(null, '', location.pathname)
  // A used code does not matter to a browser that is logged in.
  await login({ code }).catch(() => {})
}
