/** tool_call: a call of a tool that was found with tool_search. The engine knows the call that is meant, and this one not at all. */

import { z } from 'zod'
import { TirelessError } from '../../domain/error.ts'
import { defineTool } from '../../ports/define-tool.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { STRICTEST } from './options.ts'

const args = z.strictObject({
  name: z.string().min(1).describe('The name, as tool_search gave it.'),
  args: z.record(z.string(), z.json()).default({}).describe('Its arguments, as its schema has them.'),
})

export const toolCall: AnyTool = defineTool<z.infer<typeof args>>({
  name: 'tool_call',
  description: 'Calls a tool that tool_search has found.',
  args,
  effect: () => STRICTEST,
  meant: ({ name, args: inner }) => ({ tool: name, args: inner }),
  async run() {
    throw new TirelessError('internal', 'tool_call was run itself, and not the call that it stands for')
  },
})
