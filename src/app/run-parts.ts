/** The parts of a run that a program or a plugin can add, by kind: one registry and one check for each. */

import { BUILTIN_ENV_KINDS } from '../adapters/envs/envs.ts'
import { PROVIDERS } from '../adapters/models/providers.ts'
import { TirelessError } from '../domain/error.ts'
import { describeValue } from '../domain/json.ts'
import { MEMORY_KINDS } from '../memory/memory-kinds.ts'
import type { Behaviour, Critic } from '../ports/behaviour.ts'
import type { EnvKind } from '../ports/env.ts'
import type { Gate } from '../ports/gate.ts'
import type { Hook } from '../ports/hook.ts'
import type { MemoryKind } from '../ports/memory.ts'
import type { ModelProvider } from '../ports/model.ts'
import type { Parser } from '../ports/parser.ts'
import type { PluginHost } from '../ports/plugin.ts'
import type { RecoveryRule } from '../ports/recovery-rule.ts'
import type { StopRule } from '../ports/stop-rule.ts'
import { type AnyTool, TOOL_NAME } from '../ports/tool.ts'
import { PARSERS } from '../prompt-compiler/protocols/protocols.ts'
import { createRegistry } from './registry.ts'

/** Additions to the built-in parts of a run. */
export interface RunParts {
  readonly tools?: readonly AnyTool[]
  readonly critics?: readonly Critic[]
  readonly gates?: readonly Gate[]
  readonly behaviours?: readonly Behaviour[]
  readonly hooks?: readonly Hook[]
  readonly parsers?: readonly Parser[]
  readonly memories?: readonly MemoryKind[]
  readonly envs?: readonly EnvKind[]
  readonly modelProviders?: readonly ModelProvider[]
  readonly recoveryRules?: readonly RecoveryRule[]
  readonly stopRules?: readonly StopRule[]
}

/** The registries that need nothing but their parts. */
export const PART_REGISTRIES = [
  ...(['critics', 'gates', 'hooks', 'parsers', 'memories'] as const),
  ...(['envKinds', 'modelProviders', 'recoveryRules', 'stopRules'] as const),
]

export function providePartRegistries(host: PluginHost, parts: RunParts): void {
  host.provide('critics', createRegistry('critics', parts.critics ?? [], { methods: ['judge'] }))
  host.provide('gates', createRegistry('gates', parts.gates ?? [], { methods: ['judge'] }))
  host.provide('hooks', createRegistry('hooks', parts.hooks ?? []))
  const parsers = [...PARSERS, ...(parts.parsers ?? [])]
  host.provide('parsers', createRegistry('parsers', parsers, { methods: ['instructions', 'parse'] }))
  const memories = [...MEMORY_KINDS, ...(parts.memories ?? [])]
  host.provide('memories', createRegistry('memories', memories, { methods: ['open'] }))
  host.provide(
    'envKinds',
    createRegistry('envs', parts.envs ?? [], { names: TOOL_NAME, methods: ['open'], check: checkEnvKind }),
  )
  host.provide(
    'modelProviders',
    createRegistry('modelProviders', parts.modelProviders ?? [], {
      ...{ names: TOOL_NAME, methods: ['open'], check: checkModelProvider },
    }),
  )
  host.provide('recoveryRules', createRegistry('recoveryRules', parts.recoveryRules ?? [], { methods: ['decide'] }))
  host.provide('stopRules', createRegistry('stopRules', parts.stopRules ?? [], { methods: ['check'] }))
}

function checkEnvKind({ name, tools = [] }: EnvKind): void {
  if (BUILTIN_ENV_KINDS.includes(name)) throw takenName('env', name)
  if (!Array.isArray(tools) || !tools.every((tool) => typeof tool === 'string'))
    throw new TirelessError('plugin_invalid', {
      what: `invalid env ${name}`,
      where: 'tools',
      got: describeValue(tools),
      expected: 'a list of names of tools',
    })
}

function checkModelProvider({ name, models }: ModelProvider): void {
  if (Object.hasOwn(PROVIDERS, name) || name === 'offline') throw takenName('model provider', name)
  const isList = Array.isArray(models) && models.length > 0
  if (!isList || !models.every((model) => typeof model === 'string' && MODEL_NAME.test(model)))
    throw new TirelessError('plugin_invalid', {
      what: `invalid model provider ${name}`,
      where: 'models',
      got: describeValue(models),
      expected: 'a list of one or more names without spaces, such as ["fast"]',
    })
}

/** Without spaces and characters that a terminal or a configuration file would treat as its own. */
const MODEL_NAME = /^[\w.:/@+-]{1,200}$/

const takenName = (what: string, name: string): TirelessError =>
  new TirelessError('plugin_invalid', { what: `the ${what} ${name} is built in`, fix: 'choose another name' })
