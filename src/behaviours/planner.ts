/** The behaviour of the LLM planner: one answer with a list of agents, no tools. The kernel validates the answer. */

import type { Behaviour } from '../ports/behaviour.ts'
import { loadPromptParts } from '../prompts/load-prompt.ts'

export const plannerBehaviour: Behaviour = {
  name: 'planner',
  tools: [],
  buildSystemPrompt: () => loadPromptParts('system/planner.md'),
  initState: () => null,
}
