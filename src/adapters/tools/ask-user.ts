/** ask_user: posts a question to the owner. Afterwards the engine parks the run until a message arrives. */

import { z } from 'zod'
import { CLEAN_LABEL } from '../../domain/label.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { MessageSender } from '../../ports/message-sender.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'
import { asToolResult } from './tool-result.ts'

const args = z.strictObject({
  question: z.string().trim().min(1).max(4000),
})

export const askUser = (postbox: MessageSender): AnyTool =>
  defineToolWithText<z.infer<typeof args>>({
    name: 'ask_user',
    loadText: () => loadToolText('ask_user'),
    args,
    effect: () => ({ recovery: 'idempotent', reach: 'none' }),
    gives: () => CLEAN_LABEL,
    destinations: () => [],
    run: ({ question }, { call, origin, replyTo = [] }) =>
      asToolResult(async () => {
        const answer = `tireless send --session ${origin.session_id} "…"`
        // In a chat, the next message is the answer.
        const text =
          replyTo.length > 0 ? question : `${question}\n\n(The agent ${origin.agent_id} asks. Answer: ${answer})`
        const { session_id, agent_id } = origin
        const letter = { id: `ask-${call}`, to: null, text, urgent: true, replyTo }
        const { channel } = await postbox.post({ ...letter, question: { question, session_id, agent_id } })
        return { status: 'ok', content: `question sent by ${channel}; the answer arrives as a message` }
      }),
  })
