/** The language of the page, for components that are drawn at many places. */

import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Language } from './format.ts'
import { TEXTS, type Texts } from './texts.ts'

export const PageLanguage = createContext<Language>('en')

export function useTexts(): { readonly language: Language; readonly texts: Texts } {
  const language = useContext(PageLanguage)
  return { language, texts: TEXTS[language] }
}
