/** The language of texts that the runtime shows to an agent, or to people about an agent. */

export const LANGUAGES = ['en', 'zh'] as const
export type Language = (typeof LANGUAGES)[number]

/** A text for people. */
export interface PeopleText {
  readonly text: string
  /** The text in Chinese. */
  readonly zh?: string | undefined
}

/** The heading of the last section of an unattended run's answer. */
export const SUMMARY_HEADING: Readonly<Record<Language, string>> = { en: '## Execution Summary', zh: '## 执行总结' }

const HAN = /\p{Script=Han}/u
/** Japanese and Korean texts contain Han characters, too. */
const JAPANESE_OR_KOREAN = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** Language of texts that concern several agents: Chinese if one of their prompts is Chinese. */
export const languageOfAgents = (agents: readonly { readonly prompt: string }[]): Language =>
  agents.some(({ prompt }) => languageOf(prompt) === 'zh') ? 'zh' : 'en'

/**
 * Contract: returns the language of the text, judged by its script. The Chinese summary heading alone does not count.
 */
export function languageOf(text: string): Language {
  const own = text.replaceAll(SUMMARY_HEADING.zh, '')
  return HAN.test(own) && !JAPANESE_OR_KOREAN.test(own) ? 'zh' : 'en'
}
