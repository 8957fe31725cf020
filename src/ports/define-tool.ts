/** Gives a tool's methods the type of its arguments, then forgets it: a toolbox holds tools of all kinds. */

import type { AnyTool, Tool } from './tool.ts'

/** Contract: returns the same object. Whoever calls its methods hands over what `args` has parsed, and nothing else. */
export function defineTool<Args>(tool: Tool<Args>): AnyTool {
  return tool as unknown as AnyTool
}
