/** How tools are made. */

import type { AnyTool, Tool } from './tool.ts'

/**
 * Gives a tool's methods the type of its arguments, then forgets it: a toolbox holds tools of all kinds.
 * Contract: returns the same object. Whoever calls its methods hands over what `args` has parsed, and nothing else.
 */
export function defineTool<Args>(tool: Tool<Args>): AnyTool {
  return tool as unknown as AnyTool
}

/** The same tool as `space__name`, so that two packages may bring tools of one name. Contract: the tool itself is left as it is. */
export function inNamespace<T extends AnyTool>(space: string, tool: T): T {
  return Object.create(tool, { name: { value: `${space}__${tool.name}`, enumerable: true } })
}
