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
const ALL_HAN = /\p{Script=Han}/gu
/** Japanese and Korean texts contain Han characters, too. */
const JAPANESE_OR_KOREAN = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** Language of texts that concern several agents: Chinese if one of their prompts is Chinese. */
export const languageOfAgents = (agents: readonly { readonly prompt: string }[]): Language =>
  agents.some(({ prompt }) => languageOf(prompt) === 'zh') ? 'zh' : 'en'

/** What says nothing of the language around it: quoted texts, and names of files and tools. */
const QUOTED = /"[^"\n]*"|“[^“”\n]*”|「[^「」\n]*」|《[^《》\n]*》|`[^`\n]*`/g
const NAMES = /(?<![\w./~\p{Script=Han}-])(?:[\w~-]*[./_][\w./~-]*\w|\p{Script=Han}+\.[a-z]\w{0,7}\b)/gu
const LATIN_WORDS = /\p{Script=Latin}+/gu
/** English sentences have words such as these; names and commands in a Chinese sentence have not. */
const ENGLISH_WORDS =
  /\b(?:the|an?|is|are|was|were|be|has|have|to|of|and|in|into|on|for|with|from|it|its|this|that|my|your|not|now)\b/i

/**
 * Contract: returns the language of the text, judged by its scripts: one Chinese name in an English text makes it no
 * Chinese one. Nor does the Chinese summary heading.
 */
export function languageOf(text: string): Language {
  const own = text.replaceAll(SUMMARY_HEADING.zh, '')
  if (!HAN.test(own) || JAPANESE_OR_KOREAN.test(own)) return 'en'
  const sentence = own.replace(QUOTED, ' ').replace(NAMES, ' ')
  const said = /\p{L}/u.test(sentence) ? sentence : own
  const han = said.match(ALL_HAN)?.length ?? 0
  const latin = said.match(LATIN_WORDS)?.length ?? 0
  return latin > han && (han === 0 || ENGLISH_WORDS.test(said)) ? 'en' : 'zh'
}
