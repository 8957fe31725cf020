/**
 * The behaviour for work without a person: like solo, but its system prompt ends with a directive
 * (src/prompts/system/unattended.*.md). The directive comes last so that it overrides earlier rules. The directive is
 * not part of `solo`, and solo's rule about waiting is not part of this behaviour.
 */

import type { Json } from '../domain/json.ts'
import type { Language } from '../domain/language.ts'
import type { Behaviour, SystemPrompt } from '../ports/behaviour.ts'
import { defineBehaviour } from '../ports/behaviour.ts'
import { loadPrompt } from '../prompts/load-prompt.ts'
import { loadWorkPrompt } from './solo.ts'

type ResultCheck<S> = Pick<Behaviour<S>, 'state' | 'initState' | 'reduce' | 'critics'>

/** `check`: judges the results and keeps the evidence in the state. */
export function unattendedBehaviour<S extends Json & { readonly language: Language }>(
  tools: () => readonly string[],
  check: ResultCheck<S>,
): Behaviour {
  return defineBehaviour<S>({
    name: 'unattended',
    get tools() {
      return tools()
    },
    buildSystemPrompt: ({ language }): SystemPrompt => ({
      ...loadWorkPrompt(),
      unattended: loadPrompt(`system/unattended.${language}.md`),
    }),
    ...check,
  })
}
