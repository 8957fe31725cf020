/**
 * Toolbox: the tools of a behaviour, as the model is shown them and as its calls are checked.
 * Must not know: how a tool works.
 */

import { z } from 'zod'
import type { Call } from '../domain/decision.ts'
import type { Effect } from '../domain/effect.ts'
import type { Json } from '../domain/json.ts'
import type { AskedCall } from '../domain/record.ts'
import type { ToolSpec } from '../ports/model.ts'
import type { AnyTool } from '../ports/tool.ts'

export type Toolbox = ReadonlyMap<string, AnyTool>

const NO_EFFECT: Effect = { recovery: 'pure', reach: 'none' }

export function specsOf(toolbox: Toolbox): ToolSpec[] {
  return [...toolbox.values()].map((tool) => {
    const { $schema: _, ...parameters } = z.toJSONSchema(tool.args, { io: 'input' })
    return { name: tool.name, description: tool.description, parameters: parameters as Record<string, Json> }
  })
}

/** Contract: runs nothing. A call that may not run comes back with its fault. */
export function checkCall(toolbox: Toolbox, asked: AskedCall): Call {
  const refused = (fault: string, args: Json = asked.args): Call => ({
    id: asked.id,
    tool: asked.tool,
    args,
    effect: NO_EFFECT,
    fault,
  })
  const tool = toolbox.get(asked.tool)
  if (!tool)
    return refused(`there is no tool ${JSON.stringify(asked.tool)}; the tools are ${[...toolbox.keys()].join(', ')}`)
  let raw: unknown
  try {
    raw = JSON.parse(asked.args === '' ? '{}' : asked.args)
  } catch (error) {
    return refused(
      `the arguments are not JSON (${error instanceof Error ? error.message : 'unreadable'}); send one JSON object`,
    )
  }
  const checked = tool.args.safeParse(raw)
  if (!checked.success)
    return refused(`the arguments do not fit: ${z.prettifyError(checked.error).replaceAll('\n', ' ')}`, raw as Json)
  return { id: asked.id, tool: asked.tool, args: checked.data as Json, effect: tool.effect(checked.data as never) }
}
