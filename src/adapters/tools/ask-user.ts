/** ask_user: a question to the owner. It is posted like any message; then the engine parks the run until somebody has said something. */

import { z } from 'zod'
import { CLEAN } from '../../domain/trust.ts'
import { defineTool } from '../../ports/define-tool.ts'
import type { Postbox } from '../../ports/postbox.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { told } from './result.ts'

const args = z.strictObject({
  question: z.string().trim().min(1).max(4000).describe('So that it can be answered by itself.'),
})

export const askUser = (postbox: Postbox): AnyTool =>
  defineTool<z.infer<typeof args>>({
    name: 'ask_user',
    description: 'Asks your owner and waits for the answer. Call it alone.',
    args,
    effect: () => ({ recovery: 'idempotent', reach: 'none' }),
    gives: () => CLEAN,
    destinations: () => [],
    run: ({ question }, { call, origin }) =>
      told(async () => {
        const text = `${question}\n\n(${origin.agent_id} asks. Answer: tireless send --session ${origin.session_id} "…")`
        const { channel } = await postbox.post({ id: `ask-${call}`, to: null, text, urgent: true })
        return { status: 'ok', content: `asked by ${channel}; the answer follows` }
      }),
  })
