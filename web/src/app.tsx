/** Who is in sees Now; who is not is asked for the token. */

import { useEffect, useReducer, useState } from 'preact/hooks'
import { isIn, login } from './api.ts'
import type { Language } from './format.ts'
import { type Home, openHome } from './home.ts'
import { Login } from './login.tsx'
import { Now } from './now/now.tsx'
import { WORDS } from './words.ts'

const LANGUAGE_KEY = 'tireless-language'

export function App() {
  const [language, setLanguage] = useState<Language>(preferred)
  const [inside, setInside] = useState<'unknown' | 'in' | 'out'>('unknown')

  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
  }, [language])
  useEffect(() => {
    void enterByCode()
      .then(isIn)
      // A server that does not answer is for the page to say.
      .catch(() => true)
      .then((known) => setInside(known ? 'in' : 'out'))
  }, [])

  const switchLanguage = (): void => {
    const next = language === 'zh' ? 'en' : 'zh'
    localStorage.setItem(LANGUAGE_KEY, next)
    setLanguage(next)
  }
  const words = WORDS[language]
  if (inside === 'unknown') return null
  if (inside === 'out') return <Login words={words} switchLanguage={switchLanguage} entered={() => setInside('in')} />
  return <Inside language={language} switchLanguage={switchLanguage} locked={() => setInside('out')} />
}

interface InsideProps {
  readonly language: Language
  switchLanguage(): void
  locked(): void
}

function Inside({ language, switchLanguage, locked }: InsideProps) {
  const [, changed] = useReducer((count: number, _: unknown) => count + 1, 0)
  const [home, setHome] = useState<Home>()
  useEffect(() => {
    let drawing = 0
    // However much is told, the page is drawn once a frame.
    const draw = (): void => {
      cancelAnimationFrame(drawing)
      drawing = requestAnimationFrame(changed)
    }
    const opened = openHome(draw, locked)
    setHome(opened)
    return () => {
      cancelAnimationFrame(drawing)
      opened.close()
    }
  }, [])
  return home ? <Now home={home} language={language} switchLanguage={switchLanguage} /> : null
}

function preferred(): Language {
  const chosen = localStorage.getItem(LANGUAGE_KEY)
  if (chosen === 'en' || chosen === 'zh') return chosen
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

/** The code goes from the address before anything else happens, and is worth nothing afterwards. */
async function enterByCode(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return
  history.replaceState(null, '', location.pathname)
  // One that is used up is no trouble for a browser that is in already.
  await login({ code }).catch(() => {})
}
