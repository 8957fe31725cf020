/** finish: the model gives its final answer, and the engine ends the run. */

import { z } from 'zod'
import { defineTool } from '../../ports/define-tool.ts'
import { decisionTool } from './decision-tool.ts'

const args = z.strictObject({
  answer: z.string().describe('The final answer.'),
  summary: z.string().optional().describe('What you did.'),
})

export const finishTool = defineTool<z.infer<typeof args>>({
  name: 'finish',
  description: 'Ends the task. Call it alone, after you have the results of all other calls.',
  args,
  ...decisionTool,
})
