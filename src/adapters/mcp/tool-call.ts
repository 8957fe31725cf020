/** tool_call: calls a tool that tool_search found. Instead of tool_call, the engine runs the call that it contains. */

import { z } from 'zod'
import { TirelessError } from '../../domain/error.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'
import { STRICTEST_EFFECT } from './server-options.ts'

const args = z.strictObject({
  name: z.string().min(1),
  args: z.record(z.string(), z.json()).default({}),
})

export const toolCall: AnyTool = defineToolWithText<z.infer<typeof args>>({
  name: 'tool_call',
  loadText: () => loadToolText('tool_call'),
  args,
  effect: () => STRICTEST_EFFECT,
  meant: ({ name, args: inner }) => ({ tool: name, args: inner }),
  async run() {
    throw new TirelessError('internal', 'tool_call was run instead of the call that it contains')
  },
})
