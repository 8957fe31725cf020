/** Language: in which the runtime speaks to an agent. */

export const LANGUAGES = ['en', 'zh'] as const
export type Language = (typeof LANGUAGES)[number]

/** What an unattended run's answer ends with. */
export const SUMMARY_HEADING: Readonly<Record<Language, string>> = { en: '## Execution Summary', zh: '## 执行总结' }

const HAN = /\p{Script=Han}/u
/** Japanese and Korean are written with Han characters, too. */
const OTHERS = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** In which people are told of these agents, and what all of them are told is shown. */
export const languageOfAll = (agents: readonly { readonly prompt: string }[]): Language =>
  agents.some(({ prompt }) => languageOf(prompt) === 'zh') ? 'zh' : 'en'

/** Contract: that of whoever wrote it, as far as the script tells; to ask for a heading by its name is not to speak its language. */
export function languageOf(text: string): Language {
  const own = text.replaceAll(SUMMARY_HEADING.zh, '')
  return HAN.test(own) && !OTHERS.test(own) ? 'zh' : 'en'
}
