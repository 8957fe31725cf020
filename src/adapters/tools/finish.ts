/** finish: the model's way to hand in its answer. A decision: the engine ends the run. */

import { z } from 'zod'
import { defineTool } from '../../ports/define-tool.ts'
import { decision } from './decision.ts'

const args = z.strictObject({
  answer: z.string().describe('For whoever asked.'),
  summary: z.string().optional().describe('What was done.'),
})

export const finish = defineTool<z.infer<typeof args>>({
  name: 'finish',
  description: 'Ends the task. Call it alone, after the results of all other calls.',
  args,
  ...decision,
})
