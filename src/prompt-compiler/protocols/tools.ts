/** The tool list in the instructions of a text protocol. */

import type { ToolSpec } from '../../ports/model.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'

export function toolList(tools: readonly ToolSpec[]): string {
  if (tools.length === 0) return loadPrompt('protocols/tool-list.md#no_tools')
  const lines = tools.map(
    ({ name, description, parameters }) => `- ${name}: ${description}\n  ${JSON.stringify(parameters)}`,
  )
  return loadPrompt('protocols/tool-list.md#tools', { tools: lines.join('\n') })
}
