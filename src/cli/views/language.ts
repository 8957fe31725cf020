/** The language in which the command line speaks to people: by LC_ALL, LC_MESSAGES or LANG. */

import { environment } from '../../config/environment.ts'
import type { Language, PeopleText } from '../../domain/language.ts'

/** Contract: the text in the language of the terminal; English if it has no Chinese form. */
export const inOwnLanguage = ({ text, zh = text }: PeopleText): string => (terminalLanguage() === 'zh' ? zh : text)

export function terminalLanguage(): Language {
  const { LC_ALL, LC_MESSAGES, LANG } = environment()
  return /^zh/i.test(LC_ALL || LC_MESSAGES || LANG || '') ? 'zh' : 'en'
}
