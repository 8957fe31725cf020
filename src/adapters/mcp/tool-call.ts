/** tool_call: calls a tool found by tool_search. The engine replaces it by the inner call and never runs it itself. */

import { z } from 'zod'
import { TirelessError } from '../../domain/error.ts'
import { defineTool } from '../../ports/define-tool.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { STRICTEST_EFFECT } from './server-options.ts'

const args = z.strictObject({
  name: z.string().min(1).describe('Name of the tool, as listed by tool_search.'),
  args: z.record(z.string(), z.json()).default({}).describe('Arguments according to the schema of the tool.'),
})

export const toolCall: AnyTool = defineTool<z.infer<typeof args>>({
  name: 'tool_call',
  description: 'Calls a tool found with tool_search.',
  args,
  effect: () => STRICTEST_EFFECT,
  meant: ({ name, args: inner }) => ({ tool: name, args: inner }),
  async run() {
    throw new TirelessError('internal', 'tool_call was run instead of the call that it contains')
  },
})
