/**
 * The toolbox: the tools of a run, their descriptions for the model, and the check of the model's calls.
 * Must not know: how a tool works.
 */

import { z } from 'zod'
import type { Call } from '../../domain/decision.ts'
import type { Effect } from '../../domain/effect.ts'
import { asTirelessError } from '../../domain/error.ts'
import type { RequestedCall } from '../../domain/journal-record.ts'
import { deepFreeze, isTooDeep, type Json } from '../../domain/json.ts'
import type { ToolSpec } from '../../ports/model.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { askPlugin, copyPlainReturn } from '../plugins/ask-plugin.ts'
import { effectPort, innerCallPort } from '../plugins/tool-shapes.ts'

export type Toolbox = ReadonlyMap<string, AnyTool>

/**
 * Contract: the map lists the offered tools. If tool_call is offered, `get` also finds tools that only tool_call can
 * call (`lazy`).
 */
export function createToolbox(names: readonly string[], all: ReadonlyMap<string, AnyTool>): Toolbox {
  const offered = names.flatMap((name): [string, AnyTool][] => {
    const tool = all.get(name)
    return tool ? [[name, tool]] : []
  })
  return offered.some(([, { meant }]) => meant) ? new LazyToolbox(offered, all) : new Map(offered)
}

/**
 * A toolbox with lazy tools. They are looked up on every `get`, because tools of MCP servers are discovered during a
 * run.
 */
class LazyToolbox extends Map<string, AnyTool> {
  readonly #all: ReadonlyMap<string, AnyTool>
  constructor(offered: readonly [string, AnyTool][], all: ReadonlyMap<string, AnyTool>) {
    super(offered)
    this.#all = all
  }
  /** All tools that `get` can find. */
  reachable(): readonly AnyTool[] {
    return [...new Set([...super.values(), ...[...this.#all.values()].filter(({ lazy }) => lazy)])]
  }
  override get(name: string): AnyTool | undefined {
    const known = super.get(name) ?? this.#all.get(name)
    return known?.lazy || super.has(name) ? known : undefined
  }
}

/** All callable tools, offered or lazy. */
export const callableTools = (toolbox: Toolbox): readonly AnyTool[] =>
  toolbox instanceof LazyToolbox ? toolbox.reachable() : [...toolbox.values()]

const NO_EFFECT: Effect = { recovery: 'pure', reach: 'none' }

export function describeTools(toolbox: Toolbox): ToolSpec[] {
  return [...toolbox.values()].map(specOf)
}

/** Cache: building a JSON schema is slow, and a tool never changes while the program runs. */
const specs = new WeakMap<AnyTool, ToolSpec>()

function specOf(tool: AnyTool): ToolSpec {
  const known = specs.get(tool)
  if (known) return known
  const { $schema: _, ...made } = tool.parameters ?? describedSchema(tool)
  const spec = { name: tool.name, description: tool.description, parameters: made as Record<string, Json> }
  specs.set(tool, spec)
  return spec
}

function describedSchema({ args, argumentDescriptions = {} }: AnyTool): z.core.JSONSchema.BaseSchema {
  const schema = z.toJSONSchema(args, { io: 'input', override: dropDefaults })
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const description = argumentDescriptions[name]
    if (description !== undefined && typeof property === 'object') property.description = description
  }
  return schema
}

interface SchemaLimits {
  minimum?: number
  maximum?: number
  minLength?: number
  minItems?: number
  maxLength?: number
  default?: unknown
  additionalProperties?: unknown
  propertyNames?: unknown
}

/**
 * Removes ranges and defaults from the schema that the model sees, to save tokens. Arguments are checked before a call
 * runs.
 */
function dropDefaults({ jsonSchema }: { readonly jsonSchema: SchemaLimits }): void {
  delete jsonSchema.maximum
  delete jsonSchema.minimum
  delete jsonSchema.minLength
  delete jsonSchema.maxLength
  delete jsonSchema.default
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  if (JSON.stringify(jsonSchema.propertyNames) === '{"type":"string"}') delete jsonSchema.propertyNames
}

/** Contract: checks the call without running it. An invalid call is returned with its fault. */
export function checkCall(toolbox: Toolbox, asked: RequestedCall): Call {
  let raw: unknown
  try {
    raw = JSON.parse(asked.args === '' ? '{}' : asked.args)
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unreadable'
    return refuseCall(asked, asked.args, loadPrompt('retries/invalid-answer.md#arguments_not_json', { error: why }))
  }
  if (isTooDeep(raw)) return refuseCall(asked, asked.args, loadPrompt('retries/invalid-answer.md#arguments_too_deep'))
  return checkCallArgs(toolbox, asked, raw)
}

export function checkCallArgs(toolbox: Toolbox, call: CallName, raw: unknown): Call {
  const tool = toolbox.get(call.tool)
  if (!tool) {
    const values = { tool: JSON.stringify(call.tool), tools: [...toolbox.keys()].join(', ') }
    return refuseCall(call, raw as Json, loadPrompt('retries/invalid-answer.md#unknown_tool', values))
  }
  try {
    return checkWithTool(toolbox, tool, call, raw)
  } catch (thrown) {
    // The tool's schema, meant() or effect() threw an error. The call has not run.
    return refuseCall(call, raw as Json, asTirelessError(thrown).message)
  }
}

function checkWithTool(toolbox: Toolbox, tool: AnyTool, call: CallName, raw: unknown): Call {
  const checked = tool.args.safeParse(raw)
  if (!checked.success) {
    const why = z.prettifyError(checked.error).replaceAll('\n', ' ')
    return refuseCall(call, raw as Json, loadPrompt('retries/invalid-answer.md#arguments_invalid', { error: why }))
  }
  // Frozen, so that gates, journal and audit see the same arguments. The tool receives a copy.
  const args = deepFreeze(copyPlainReturn({ who: `tool ${tool.name}`, method: 'args.parse' }, checked.data))
  if (tool.meant) {
    const meant = askPlugin(innerCallPort(tool.name), () => tool.meant?.(args as never))
    if (meant) return checkInnerCall(toolbox, call, meant)
  }
  const effect = deepFreeze(askPlugin(effectPort(tool.name), () => effectOf(tool, args)))
  return { id: call.id, tool: call.tool, args, effect }
}

/** The author of a tool may write one effect for all calls. */
export const effectOf = (tool: AnyTool, args: Json): Effect =>
  typeof tool.effect === 'function' ? tool.effect(args as never) : (tool.effect as unknown as Effect)

/** Replaces tool_call by the inner call that it names. */
function checkInnerCall(toolbox: Toolbox, { id, tool: by }: CallName, { tool, args }: Meant): Call {
  if (toolbox.get(tool)?.lazy) return checkCallArgs(toolbox, { id, tool }, args)
  const values = { caller: by, tool: JSON.stringify(tool) }
  return refuseCall({ id, tool: by }, args, loadPrompt('retries/invalid-answer.md#unknown_server_tool', values))
}

type Meant = ReturnType<NonNullable<AnyTool['meant']>>
type CallName = Pick<Call, 'id' | 'tool'>

function refuseCall({ id, tool }: CallName, args: Json, fault: string): Call {
  return { id, tool, args, effect: NO_EFFECT, fault }
}
