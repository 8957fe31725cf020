/**
 * The base of all text protocols: the parts of an answer, the rules for them, and the conversion of a refusal into a
 * fault.
 */

import type { ParsedAnswer, Parser } from '../../ports/parser.ts'
import { loadPrompt, type PlaceholderTexts } from '../../prompts/load-prompt.ts'

export interface ParsedParts {
  readonly thought: string[]
  readonly reflection: string[]
  readonly calls: { readonly tool: string; readonly args: string }[]
  readonly finals: string[]
}

export function emptyParts(): ParsedParts {
  return { thought: [], reflection: [], calls: [], finals: [] }
}

export class UnreadableAnswer extends Error {}

/** Contract: throws UnreadableAnswer with the text for the model. `ref`: where that text is, see `loadPrompt`. */
export function refuseAnswer(ref: string, values?: PlaceholderTexts): never {
  throw new UnreadableAnswer(loadPrompt(ref, values))
}

export function createParser(
  name: string,
  instructions: Parser['instructions'],
  read: (text: string) => ParsedParts,
): Parser {
  return {
    name,
    instructions,
    parse(text) {
      try {
        return checkParts(read(text))
      } catch (thrown) {
        if (thrown instanceof UnreadableAnswer) return { kind: 'fault', reason: thrown.message }
        throw thrown
      }
    },
  }
}

/**
 * The fault of an answer with both an action and a final answer. Neither takes precedence, because either choice would
 * drop a part that the model meant (case 24).
 */
export const ACTION_AND_ANSWER = 'retries/unreadable-answer.md#action_and_answer'

function checkParts({ thought, reflection, calls, finals }: ParsedParts): ParsedAnswer {
  if (calls.length > 0 && finals.length > 0) refuseAnswer(ACTION_AND_ANSWER)
  if (finals.length > 1) refuseAnswer('retries/unreadable-answer.md#several_answers')
  if (calls.length === 0 && finals.length === 0) refuseAnswer('retries/unreadable-answer.md#no_decision')
  const notes = { ...joinedNote('thought', thought), ...joinedNote('reflection', reflection) }
  return {
    kind: 'said',
    text: finals[0] ?? '',
    calls: calls.map((call, index) => ({ id: `call_${index + 1}`, ...call })),
    ...(Object.keys(notes).length > 0 ? { notes } : {}),
  }
}

function joinedNote(key: string, parts: readonly string[]): Record<string, string> {
  const text = parts.filter((part) => part !== '').join('\n')
  return text === '' ? {} : { [key]: text }
}
