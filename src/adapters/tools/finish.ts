/** finish: the model gives its final answer, and the engine ends the run. */

import { z } from 'zod'
import { defineToolWithText } from '../../ports/define-tool.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'
import { decisionTool } from './decision-tool.ts'

const args = z.strictObject({
  answer: z.string(),
  summary: z.string().optional(),
  next: z.string().optional(),
})

export const finishTool = defineToolWithText<z.infer<typeof args>>({
  name: 'finish',
  loadText: () => loadToolText('finish'),
  args,
  ...decisionTool,
})
