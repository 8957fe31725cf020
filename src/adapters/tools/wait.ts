/** wait: the model's way to say that it has nothing to do until something happens. A decision: the engine parks the run. */

import { z } from 'zod'
import { defineTool } from '../../ports/define-tool.ts'
import { decision } from './decision.ts'

const args = z.strictObject({
  for: z.string().min(1).describe('user_message, event:NAME, or anything in words.'),
  until: z.string().min(1).optional().describe('At the latest: an ISO instant, or 10m.'),
})

export const wait = defineTool<z.infer<typeof args>>({
  name: 'wait',
  description: 'Waits until something new arrives. Call it alone.',
  args,
  ...decision,
})
