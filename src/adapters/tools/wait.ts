/** wait: the model's way to say that it has nothing to do until something happens. A decision: the engine parks the run. */

import { z } from 'zod'
import { defineTool } from '../../ports/define-tool.ts'
import { decision } from './decision.ts'

const args = z.strictObject({
  for: z.string().min(1).describe('What to wait for: user_message, event:NAME, or anything in words.'),
  until: z.string().min(1).optional().describe('The latest moment: an ISO instant, or a duration such as 10m.'),
})

export const wait = defineTool<z.infer<typeof args>>({
  name: 'wait',
  description: 'Waits, at no cost, until something new arrives or the given moment has come. Call it alone.',
  args,
  ...decision,
})
