/** The default behaviour: the agent works on a task with tools. An answer without a tool call is final. */

import type { Behaviour, SystemSection } from '../ports/behaviour.ts'
import { loadPrompt, loadPromptParts } from '../prompts/load-prompt.ts'

/** Prompt sections for every agent that works with tools in a workspace. */
export function loadWorkPrompt(): { readonly [S in SystemSection]?: string } {
  return loadPromptParts('system/work.md')
}

export function soloBehaviour(tools: () => readonly string[]): Behaviour {
  return {
    name: 'solo',
    // A getter, because plugins may add tools until set-up is complete.
    get tools() {
      return tools()
    },
    buildSystemPrompt() {
      const rules = [loadPrompt('system/work.md#process_rules'), loadPrompt('system/solo.md')]
      return { ...loadWorkPrompt(), process_rules: rules.join('\n') }
    },
    initState: () => null,
  }
}
