/** Services that a world has none of. */

import type { AgentDirectory } from '../../src/commands/lib/agent-directory.ts'
import type { CommandContext } from '../../src/commands/lib/context.ts'
import { TirelessError } from '../../src/domain/error.ts'
import { loadZone } from '../../src/kernel/schedule/time-zone.ts'
import type { Documents } from '../../src/ports/documents.ts'
import type { KernelPlan } from './kernel-plan.ts'

export const NO_AGENTS = { all: () => [] } as Partial<AgentDirectory> as AgentDirectory
/** No world undoes what is in documents. */
export const NO_DOCUMENTS = { read: async () => undefined, versions: async () => [] } as Partial<Documents> as Documents
/** No world asks for the past; an undo whose target is gone reads it as a day. */
export const emptyPast = (now: () => number): CommandContext['past'] =>
  ({ now, clock: () => loadZone('UTC') }) as Partial<CommandContext['past']> as CommandContext['past']

/** The process of a store of one home. */
export const ALONE: Pick<
  CommandContext,
  'isQueueWorked' | 'isShared' | 'joinAs' | 'role' | 'runThroughOutages' | 'whileLeading'
> = {
  isShared: () => false,
  role: () => null,
  isQueueWorked: async () => false,
  runThroughOutages: (work) => work(),
  joinAs: async () => {},
  whileLeading: async (work, stop) => void (await work(stop)),
}

/** For a world without a kernel. */
export const NO_KERNEL_CONTROL: CommandContext['kernel'] = {
  isRunning: () => false,
  isElsewhere: () => false,
  asLeader: (work) => work(),
  watchConfig: async () => {},
  nextBeatAt: () => undefined,
  nextBeatOf: () => undefined,
  run: async () => {},
  catchUp: async () => {},
  runOneCycle: () => Promise.reject(new TirelessError('internal', 'there are no cycles here')),
  runFirstCycle: async () => undefined,
  runCycleElsewhere: async () => undefined,
  runCycleNow: () => Promise.reject(new TirelessError('internal', 'there are no cycles here')),
  enqueueAgents: () => Promise.reject(new TirelessError('internal', 'there are no cycles here')),
  reloadSchedules: () => {},
  healthProblems: async () => [],
}

export const NO_KERNEL: KernelPlan = {
  single: false,
  late: false,
  every: 60_000,
  mode: 'static',
  missed: 'skip',
  overrun: 'skip',
  agents: [],
}

/** Commands of a world show the default model and call none; runs call the model of the engine. */
export const NO_MODELS: CommandContext['models'] = {
  defaultId: 'sim/model',
  choice: async () => ({ id: 'sim/model', why: 'the model of the world' }),
  get: () => {
    throw new Error('a command asked for a model')
  },
  fallbackChain: async () => ['sim/model'],
  list: async () => [],
  keys: () => [],
}

/** No world has a channel. */
export const NO_PROGRESS_MESSAGES: CommandContext['progressMessages'] = { run: async () => {} }
export const NO_CONNECTIONS: CommandContext['connections'] = {
  run: async () => {},
  stateOf: () => null,
  problems: () => [],
  refresh: () => {},
}

/** Without a kernel there are no notices either. */
export const NO_NOTIFIER: CommandContext['notifier'] = {
  run: async () => {},
  once: async () => {},
  deliver: async () => {},
  target: async () => null,
  post: async () => ({ channel: 'console' }),
  unpairedTarget: async () => null,
  language: () => 'en',
}
