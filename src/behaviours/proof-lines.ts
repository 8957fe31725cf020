/** What the owner reads below an answer: which todos were proved by a check, and which were only asserted. Pure. */

import { type Language, languageOf } from '../domain/language.ts'
import type { BehaviourEnd } from '../ports/behaviour.ts'

const WORDS = {
  en: { proved: 'proved by a check', asserted: 'asserted, not proved', open: 'not done' },
  zh: { proved: '检查已证明', asserted: '只是声称，未经证明', open: '未完成' },
} as const satisfies Record<Language, Record<string, string>>

/**
 * Contract: the answer and one line per todo, in the language of what the owner asked, else of the answer; without
 * todos the answer alone.
 */
export function answerWithProof({
  answer,
  todos,
  asked = '',
}: Pick<BehaviourEnd, 'answer' | 'todos' | 'asked'>): string {
  if (todos.length === 0) return answer
  const words = WORDS[languageOf(asked.trim() === '' ? answer : asked)]
  const lines = todos.map(({ code, title, status, proof }) => {
    const what = status === 'DONE' && proof !== null ? words[proof] : `${words.open} (${status})`
    return `- ${code} ${title}: ${what}`
  })
  return [answer, lines.join('\n')].filter((part) => part !== '').join('\n\n')
}
