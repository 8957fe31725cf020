/**
 * Toolbox: the tools of a behaviour, as the model is shown them and as its calls are checked.
 * Must not know: how a tool works.
 */

import { z } from 'zod'
import type { Call } from '../domain/decision.ts'
import type { Effect } from '../domain/effect.ts'
import { asTirelessError } from '../domain/error.ts'
import { deepFreeze, type Json } from '../domain/json.ts'
import type { AskedCall } from '../domain/record.ts'
import type { ToolSpec } from '../ports/model.ts'
import type { AnyTool } from '../ports/tool.ts'
import { askPlugin, plainReturn } from './ask-plugin.ts'
import { effectPort, meantPort } from './return-shapes.ts'

export type Toolbox = ReadonlyMap<string, AnyTool>

/** Contract: lists what is offered; finds also lazy tools, where one of those that are offered can stand for them. */
export function toolboxOf(names: readonly string[], all: ReadonlyMap<string, AnyTool>): Toolbox {
  const offered = names.flatMap((name): [string, AnyTool][] => {
    const tool = all.get(name)
    return tool ? [[name, tool]] : []
  })
  return offered.some(([, { meant }]) => meant) ? new Reaching(offered, all) : new Map(offered)
}

/** Tools of servers come to be known while a run is under way. */
class Reaching extends Map<string, AnyTool> {
  readonly #all: ReadonlyMap<string, AnyTool>
  constructor(offered: readonly [string, AnyTool][], all: ReadonlyMap<string, AnyTool>) {
    super(offered)
    this.#all = all
  }
  /** Everything that `get` finds. */
  reachable(): readonly AnyTool[] {
    return [...new Set([...super.values(), ...[...this.#all.values()].filter(({ lazy }) => lazy)])]
  }
  override get(name: string): AnyTool | undefined {
    const known = super.get(name) ?? this.#all.get(name)
    return known?.lazy || super.has(name) ? known : undefined
  }
}

/** What can be called, be it offered or not. */
export const reachableIn = (toolbox: Toolbox): readonly AnyTool[] =>
  toolbox instanceof Reaching ? toolbox.reachable() : [...toolbox.values()]

const NO_EFFECT: Effect = { recovery: 'pure', reach: 'none' }

export function specsOf(toolbox: Toolbox): ToolSpec[] {
  return [...toolbox.values()].map(specOf)
}

/** A tool is what it is for as long as the program runs, and its schema takes a while to write out. */
const specs = new WeakMap<AnyTool, ToolSpec>()

function specOf(tool: AnyTool): ToolSpec {
  const known = specs.get(tool)
  if (known) return known
  const { $schema: _, ...made } = tool.parameters ?? z.toJSONSchema(tool.args, { io: 'input', override: withoutNoise })
  const spec = { name: tool.name, description: tool.description, parameters: made as Record<string, Json> }
  specs.set(tool, spec)
  return spec
}

interface Noisy {
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
 * How large a number and how long a text may be, what is taken where nothing is said, and that there is nothing else, goes without saying in every request. What a model makes of it
 * all the same is checked before it is run.
 */
function withoutNoise({ jsonSchema }: { readonly jsonSchema: Noisy }): void {
  delete jsonSchema.maximum
  delete jsonSchema.minimum
  delete jsonSchema.minLength
  delete jsonSchema.maxLength
  delete jsonSchema.default
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  if (JSON.stringify(jsonSchema.propertyNames) === '{"type":"string"}') delete jsonSchema.propertyNames
}

/** Contract: runs nothing. A call that may not run comes back with its fault. */
export function checkCall(toolbox: Toolbox, asked: AskedCall): Call {
  let raw: unknown
  try {
    raw = JSON.parse(asked.args === '' ? '{}' : asked.args)
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unreadable'
    return refused(asked, asked.args, `the arguments are not JSON (${why}); send one JSON object`)
  }
  return checkArgs(toolbox, asked, raw)
}

export function checkArgs(toolbox: Toolbox, call: Named, raw: unknown): Call {
  const tool = toolbox.get(call.tool)
  if (!tool) {
    const known = [...toolbox.keys()].join(', ')
    return refused(call, raw as Json, `there is no tool ${JSON.stringify(call.tool)}; the tools are ${known}`)
  }
  try {
    return checkedBy(toolbox, tool, call, raw)
  } catch (thrown) {
    // A tool that breaks while it says what it would do: nothing has been done yet.
    return refused(call, raw as Json, asTirelessError(thrown).message)
  }
}

function checkedBy(toolbox: Toolbox, tool: AnyTool, call: Named, raw: unknown): Call {
  const checked = tool.args.safeParse(raw)
  if (!checked.success) {
    const why = z.prettifyError(checked.error).replaceAll('\n', ' ')
    return refused(call, raw as Json, `the arguments do not fit: ${why}`)
  }
  // From here on they are the same for whoever judges, records and runs the call; a tool that runs is handed a copy.
  const args = deepFreeze(plainReturn({ who: `tool ${tool.name}`, method: 'args.parse' }, checked.data))
  if (tool.meant) {
    const meant = askPlugin(meantPort(tool.name), () => tool.meant?.(args as never))
    if (meant) return checkMeant(toolbox, call, meant)
  }
  const effect = deepFreeze(askPlugin(effectPort(tool.name), () => tool.effect(args as never)))
  return { id: call.id, tool: call.tool, args, effect }
}

/** From here on there is only the call that is meant. */
function checkMeant(toolbox: Toolbox, { id, tool: by }: Named, { tool, args }: Meant): Call {
  if (toolbox.get(tool)?.lazy) return checkArgs(toolbox, { id, tool }, args)
  return refused({ id, tool: by }, args, `there is no tool ${JSON.stringify(tool)} that ${by} could call`)
}

type Meant = ReturnType<NonNullable<AnyTool['meant']>>
type Named = Pick<Call, 'id' | 'tool'>

function refused({ id, tool }: Named, args: Json, fault: string): Call {
  return { id, tool, args, effect: NO_EFFECT, fault }
}
