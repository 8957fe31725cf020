/** wait: the model has nothing to do until an event arrives, and the engine parks the run. */

import { z } from 'zod'
import { defineTool } from '../../ports/define-tool.ts'
import { decisionTool } from './decision-tool.ts'

const args = z.strictObject({
  for: z.string().min(1).describe('user_message, event:NAME, or a description.'),
  until: z.string().min(1).optional().describe('Stop waiting at: an ISO time, or after a duration such as 10m.'),
})

export const waitTool = defineTool<z.infer<typeof args>>({
  name: 'wait',
  description: 'Pauses the task until a message or event arrives. Call no other tool with it.',
  args,
  ...decisionTool,
})
