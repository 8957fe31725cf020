/** The language in which the command line speaks to people: by LC_ALL, LC_MESSAGES or LANG. */

import { environment } from '../../config/environment.ts'
import type { Language } from '../../domain/language.ts'

export function terminalLanguage(): Language {
  const { LC_ALL, LC_MESSAGES, LANG } = environment()
  return /^zh/i.test(LC_ALL || LC_MESSAGES || LANG || '') ? 'zh' : 'en'
}
