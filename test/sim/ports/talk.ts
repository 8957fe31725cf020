/** The assistant: the shipped behaviours and the real tools for todos and routing, with the simulator's own tools. */

import { join } from 'node:path'
import { route } from '../../../src/adapters/tools/route.ts'
import { todoTools } from '../../../src/adapters/tools/todos/todo-tools.ts'
import { createBehaviours } from '../../../src/behaviours/behaviours.ts'
import { loadBehaviourSpecs } from '../../../src/config/agent-behaviours.ts'
import type { BehaviourSpec } from '../../../src/domain/behaviour-spec.ts'
import { LABEL_OF_WORKSPACE } from '../../../src/domain/label.ts'
import { createMessageRouter } from '../../../src/kernel/conversation/message-router.ts'
import type { Behaviour, Behaviours } from '../../../src/ports/behaviour.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { Egress } from '../../../src/ports/egress.ts'
import type { Ids } from '../../../src/ports/ids.ts'
import type { Store } from '../../../src/ports/store.ts'
import type { AnyTool } from '../../../src/ports/tool.ts'
import { TOOL_NAMES } from '../plan.ts'
import type { World } from '../world.ts'

/** The agent that people talk with. */
export const ASSISTANT = 'assistant'

const isDecision = (tool: string): boolean => tool === 'wait' || tool === 'finish'

export const isConversationTool = (tool: string): boolean => tool === 'route' || tool.startsWith('todo_')

const FOLDER = join(import.meta.dirname, '../../../agents')
/** Read once, before a simulation forbids the real world. */
const SPECS = new Map(
  [...(loadBehaviourSpecs([FOLDER]).get(ASSISTANT) ?? [])].map(([name, spec]) => [name, withSimTools(spec)]),
)

/** Of the listed tools only those that the simulator has; every behaviour can look around. */
function withSimTools(spec: BehaviourSpec): BehaviourSpec {
  const known = spec.tools.filter((tool) => tool === '*' || isConversationTool(tool) || isDecision(tool))
  return { ...spec, tools: spec.output === 'router' ? known : [...known, 'look'] }
}

/** Checks of the simulator read files only. */
const NO_EGRESS = {} as Egress

interface TalkParts {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
}

export function talkTools(parts: TalkParts): readonly AnyTool[] {
  const prepareWorkspace = async (sessionId: string) => ({ path: workspaceOf(sessionId) })
  const router = createMessageRouter({
    ...parts,
    kernelId: 'sim',
    prepareWorkspace,
    receivedFiles: { copy: async () => {} },
  })
  return [...todoTools({ store: parts.store, egress: NO_EGRESS, outputLabel: LABEL_OF_WORKSPACE }), route(router)]
}

export const SHARED_FOLDER = '/nowhere/shared'

/** Half of the sessions share a folder. */
export const workspaceOf = (sessionId: string): string =>
  /[12569]$/.test(sessionId) ? SHARED_FOLDER : `/nowhere/${sessionId}`

/** `offered`: the simulator's own tools that this process offers. */
export function talkBehaviours(world: World, offered: readonly string[]): Behaviours {
  const own = offered.filter((tool) => (TOOL_NAMES as readonly string[]).includes(tool) || isDecision(tool))
  const sources = {
    all: () => new Map<string, Behaviour>(),
    spec: (_: string, name: string) => SPECS.get(name),
    names: () => [...SPECS.keys()],
  }
  const behaviours = createBehaviours(sources, 'plan', {
    allowedTools: () => null,
    toolExists: (tool) => own.includes(tool) || isConversationTool(tool),
    isOptIn: isConversationTool,
    offered: () => own,
  })
  const { behaviour: broken = (behaviour: Behaviour) => behaviour } = world.variant
  return { get: (agentId, name) => broken(behaviours.get(agentId, name)) }
}
