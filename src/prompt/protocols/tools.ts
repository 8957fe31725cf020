/** The tool list in the instructions of a text protocol. */

import type { ToolSpec } from '../../ports/model.ts'

export function toolList(tools: readonly ToolSpec[]): string {
  if (tools.length === 0) return 'There are no tools.'
  return [
    'Tools, each with the JSON Schema of its arguments:',
    ...tools.map(({ name, description, parameters }) => `- ${name}: ${description}\n  ${JSON.stringify(parameters)}`),
  ].join('\n')
}
