/** The language in which the command line speaks to people: by LC_ALL, LC_MESSAGES or LANG. */

import { environment } from '../../config/environment.ts'
import type { Language } from '../../domain/language.ts'

/** Contract: the text in the language of the terminal, if it has a Chinese form. */
export const sayNote = ({ text, zh }: { readonly text: string; readonly zh?: string | undefined }): string =>
  terminalLanguage() === 'zh' ? (zh ?? text) : text

export function terminalLanguage(): Language {
  const { LC_ALL, LC_MESSAGES, LANG } = environment()
  return /^zh/i.test(LC_ALL || LC_MESSAGES || LANG || '') ? 'zh' : 'en'
}
