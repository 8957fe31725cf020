/** The real residents of a process, over ports that the world answers. Most worlds have none. */

import { residentTools } from '../../../src/adapters/tools/resident-actions.ts'
import { readMind } from '../../../src/behaviours/resident/mind.ts'
import { residentBehaviour } from '../../../src/behaviours/resident/resident.ts'
import { TirelessError } from '../../../src/domain/error.ts'
import type { ResidentSettings } from '../../../src/kernel/residents/resident-settings.ts'
import { Residents } from '../../../src/kernel/residents/residents.ts'
import type { Behaviour } from '../../../src/ports/behaviour.ts'
import { untilAborted } from '../../../src/ports/deadline.ts'
import type { Sources } from '../../../src/ports/source.ts'
import type { AnyTool } from '../../../src/ports/tool.ts'
import type { SimProcess } from '../process.ts'
import type { ResidentPlan } from '../resident-plan.ts'
import { CHANNEL } from '../talk-plan.ts'
import type { World } from '../world.ts'
import type { KernelParts } from './kernel.ts'
import { workspaceOf } from './talk.ts'

/** Where residents speak to their owner if nobody asked. */
const OWNER_CHAT = 'owner'

const TOOLS = residentTools().map((tool) => [tool.name, tool] as const)
const TOOL_NAMES: ReadonlySet<string> = new Set(TOOLS.map(([name]) => name))

export const isResidentTool = (tool: string): boolean => TOOL_NAMES.has(tool)

export function simResidents(world: World, proc: SimProcess, parts: KernelParts): Residents {
  const { engine, store, clock, wakeSignal } = parts
  const settings = (world.plan.residents ?? []).map(settingsOf)
  const residents = new Residents({
    isElsewhere: () => false,
    ...{ store, clock, wakeSignal, ids: engine.ids, kernelId: 'sim', readMind },
    prepareWorkspace: async (sessionId) => ({ path: workspaceOf(sessionId) }),
    settings: () => settings,
    replyTo: async () => ({ channel: CHANNEL, chat: OWNER_CHAT }),
    // The queue of the world works on looks, too.
    drainLooks: async () => {},
    log: () => {},
  })
  const setSlice = residents.setSlice.bind(residents)
  residents.setSlice = (agents, name, value) => {
    world.looks.onSlice(proc, agents, name, value)
    setSlice(agents, name, value)
  }
  return residents
}

const noSuchSource = (): never => {
  throw new TirelessError('not_found', 'a simulated world has no sources')
}

export const NO_SOURCES: Sources = {
  list: () => [],
  run: untilAborted,
  refresh() {},
  find: () => undefined,
  receive: async () => noSuchSource(),
  connect: async () => noSuchSource(),
}

const settingsOf = (plan: ResidentPlan): ResidentSettings => ({
  ...plan,
  ...{ goals: [], slots: [], stm: 2, persist_thought: true, expires_ms: null, sources: [] },
})

export const withResidentTools = (own: ReadonlyMap<string, AnyTool>): ReadonlyMap<string, AnyTool> =>
  new Map([...own, ...TOOLS])

export const simResidentBehaviour = (tools: readonly string[]): Behaviour => residentBehaviour(() => tools)
