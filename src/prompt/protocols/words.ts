/** Names of the parts of an answer, as JSON keys, labels or tags. An author may define others. */

export interface Words {
  readonly thought: readonly string[]
  readonly reflection: readonly string[]
  readonly action: readonly string[]
  readonly final: readonly string[]
}

export type Part = keyof Words

export const WORDS: Words = {
  thought: ['thought', 'thinking', 'think', 'rationale'],
  reflection: ['reflection'],
  action: ['action', 'actions', 'tool', 'tools', 'call', 'calls'],
  final: ['final answer', 'final', 'answer'],
}

/** Ignores case, spaces, `_` and `-`. */
export function squashed(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, '')
}

export function partsBy(words: Words): (word: string) => Part | undefined {
  const parts = new Map<string, Part>()
  for (const part of ['thought', 'reflection', 'action', 'final'] as const)
    for (const word of words[part]) parts.set(squashed(word), part)
  return (word) => parts.get(squashed(word))
}
