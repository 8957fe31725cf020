/** All texts of the page, in each language; one file per place in texts/. */

import type { Language } from './format.ts'
import { NEEDS_TEXTS } from './texts/needs-you.ts'
import { NOW_TEXTS } from './texts/now.ts'
import { SHELL_TEXTS } from './texts/shell.ts'
import { TALK_TEXTS } from './texts/talk.ts'

const textsIn = (language: Language) => ({
  ...SHELL_TEXTS[language],
  ...NOW_TEXTS[language],
  talk: TALK_TEXTS[language],
  needs: NEEDS_TEXTS[language],
})

export type Texts = ReturnType<typeof textsIn>

export const TEXTS: Readonly<Record<Language, Texts>> = { en: textsIn('en'), zh: textsIn('zh') }
