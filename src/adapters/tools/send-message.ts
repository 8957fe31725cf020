/** send_message: words to the owner, or by a channel to others. It is in the outbox when the call is over, once, whatever happens meanwhile. */

import { z } from 'zod'
import { CLEAN } from '../../domain/trust.ts'
import { defineTool } from '../../ports/define-tool.ts'
import type { Postbox } from '../../ports/postbox.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { told } from './result.ts'

const args = z.strictObject({
  to: z.string().trim().min(1).optional().describe('A channel, or channel:chat; default: your owner.'),
  text: z.string().trim().min(1).max(8000),
})

export const sendMessage = (postbox: Postbox): AnyTool =>
  defineTool<z.infer<typeof args>>({
    name: 'send_message',
    description: 'Tells your owner, or others.',
    args,
    effect: ({ to }) => ({
      recovery: 'idempotent',
      reach: to === undefined || postbox.isOwners(to) ? 'none' : 'third_party',
    }),
    gives: () => CLEAN,
    destinations: ({ to }) => (to === undefined ? [] : [to]),
    content: () => [],
    refuses: ({ to }) => (to === undefined ? undefined : postbox.refusal(to)),
    run: ({ to = null, text }, { call }) =>
      told(async () => {
        const { channel } = await postbox.post({ id: `say-${call}`, to, text, urgent: false })
        return { status: 'ok', content: `it goes out by ${channel}` }
      }),
  })
