/** Helpers for authors of tools. */

import type { CallResult } from '../domain/decision.ts'
import type { Effect } from '../domain/effect.ts'
import type { Json } from '../domain/json.ts'
import type { AnyTool, Tool, ToolContext } from './tool.ts'

/** A tool as its author writes it. */
export interface ToolDefinition<Args> extends Omit<Tool<Args>, 'effect' | 'run'> {
  /** The effect of every call, or of one with these arguments. */
  readonly effect: Effect | ((args: Args) => Effect)
  /**
   * Contract: as `run` of a tool, or plain data: a text, or what the model reads as JSON, with the status `ok`. An
   * object with both `status` and `content`, or with the `status` of a call that is not ok, is taken for a result.
   */
  run(args: Args, context: ToolContext): CallResult | Json | Promise<CallResult | Json>
}

/**
 * Infers the argument type of a tool's methods, then erases it so that a toolbox can hold tools of all types.
 * Contract: returns the same object. Callers of the tool's methods must pass arguments that `args` has parsed.
 */
export function defineTool<Args>(tool: ToolDefinition<Args>): AnyTool {
  return tool as unknown as AnyTool
}

type TextMember = 'description' | 'argumentDescriptions'

/** A tool whose description and argument descriptions are in a file, loaded when the tool is shown to a model. */
interface ToolWithText<Args> extends Omit<Tool<Args>, TextMember> {
  loadText(): Pick<Tool, TextMember>
}

/** Contract: like `defineTool`; description and argument descriptions come from `loadText`. */
export function defineToolWithText<Args>(tool: ToolWithText<Args>): AnyTool {
  return Object.defineProperties(tool, {
    description: { enumerable: true, get: () => tool.loadText().description },
    argumentDescriptions: { enumerable: true, get: () => tool.loadText().argumentDescriptions },
  }) as unknown as AnyTool
}

/** Contract: returns a tool named `space__name` with the same behaviour; the given tool is not changed. */
export function inNamespace<T extends AnyTool>(space: string, tool: T): T {
  return Object.create(tool, { name: { value: `${space}__${tool.name}`, enumerable: true } })
}
