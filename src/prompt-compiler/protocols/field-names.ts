/** Names of the parts of an answer, as JSON keys, labels or tags. A parser can be created with other names. */

export interface FieldNames {
  readonly thought: readonly string[]
  readonly reflection: readonly string[]
  readonly action: readonly string[]
  readonly final: readonly string[]
}

export type AnswerPart = keyof FieldNames

export const FIELD_NAMES: FieldNames = {
  thought: ['thought', 'thinking', 'think', 'rationale'],
  reflection: ['reflection'],
  action: ['action', 'actions', 'tool', 'tools', 'call', 'calls'],
  final: ['final answer', 'final', 'answer'],
}

/** Makes names equal that differ only in case, spaces, `_` and `-`. */
export function normaliseFieldName(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, '')
}

export function partFinder(words: FieldNames): (word: string) => AnswerPart | undefined {
  const parts = new Map<string, AnswerPart>()
  for (const part of ['thought', 'reflection', 'action', 'final'] as const)
    for (const word of words[part]) parts.set(normaliseFieldName(word), part)
  return (word) => parts.get(normaliseFieldName(word))
}
