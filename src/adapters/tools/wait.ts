/** wait: the model has nothing to do until an event arrives, and the engine parks the run. */

import { z } from 'zod'
import { defineToolWithText } from '../../ports/define-tool.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'
import { decisionTool } from './decision-tool.ts'

const args = z.strictObject({
  for: z.string().min(1),
  until: z.string().min(1).optional(),
})

export const waitTool = defineToolWithText<z.infer<typeof args>>({
  name: 'wait',
  loadText: () => loadToolText('wait'),
  args,
  ...decisionTool,
})
