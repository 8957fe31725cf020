/** spawn_agent: hands a part of the task to another agent, which works at the same time in a copy of the workspace. */

import { z } from 'zod'
import type { CallResult } from '../../domain/decision.ts'
import { LABEL_OF_OWN_OUTPUT } from '../../domain/label.ts'
import { truncateText } from '../../domain/truncate.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { SubAgents } from '../../ports/sub-agents.ts'
import type { AnyTool, ToolContext } from '../../ports/tool.ts'
import { loadPrompt, loadToolText } from '../../prompts/load-prompt.ts'
import { asToolResult, toolError } from './tool-result.ts'

const args = z.strictObject({
  agent: z.string().trim().min(1).max(200).optional(),
  task: z.string().trim().min(1).max(20_000),
  todo: z.string().trim().min(1).max(20).optional(),
  budget: z.number().positive().max(1_000_000).optional(),
})
type SpawnArgs = z.infer<typeof args>

export const spawnAgent = (agents: SubAgents): AnyTool =>
  defineToolWithText<SpawnArgs>({
    name: 'spawn_agent',
    loadText: () => describe(agents),
    args,
    effect: () => ({ recovery: 'idempotent', reach: 'none' }),
    gives: () => LABEL_OF_OWN_OUTPUT,
    destinations: () => [],
    content: () => [],
    run: (given, context) => asToolResult(() => spawn(agents, given, context)),
  })

/** Maximum number of agents that the description names, and of characters about each. */
const MAX_NAMED = 10
const MAX_DESCRIPTION = 160

function describe(agents: SubAgents): ReturnType<typeof loadToolText> {
  const named = agents.specialists().slice(0, MAX_NAMED)
  const text = loadToolText('spawn_agent')
  if (named.length === 0) return text
  const list = named.map(({ agent, description }) => `${agent}: ${truncateText(description, MAX_DESCRIPTION)}`)
  const { agent = '', ...others } = text.argumentDescriptions
  return { ...text, argumentDescriptions: { agent: `${agent} ${list.join(' ')}`, ...others } }
}

async function spawn(agents: SubAgents, given: SpawnArgs, context: ToolContext): Promise<CallResult> {
  const { call, origin, label, delegation } = context
  if (!delegation) return toolError(loadPrompt('results/agents.md#impossible'))
  const { agent, task, todo, budget: usd } = given
  const spawned = await agents.spawn({ call, origin, label, delegation: delegation(), agent, task, todo, usd })
  return {
    status: 'ok',
    content: loadPrompt('results/agents.md#spawned', { agent: spawned.agent, run: spawned.run }),
    facts: { spawned: { ...spawned } },
  }
}
