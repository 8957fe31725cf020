/**
 * send_message: sends a message to the owner, or to others through a channel. The call puts the message in the outbox;
 * if the call is repeated after a crash, the outbox still contains the message only once.
 */

import { z } from 'zod'
import { CLEAN_LABEL } from '../../domain/label.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { MessageSender } from '../../ports/message-sender.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'
import { asToolResult } from './tool-result.ts'

const args = z.strictObject({
  to: z.string().trim().min(1).optional(),
  text: z.string().trim().min(1).max(8000),
})

export const sendMessage = (postbox: MessageSender): AnyTool =>
  defineToolWithText<z.infer<typeof args>>({
    name: 'send_message',
    loadText: () => loadToolText('send_message'),
    args,
    effect: ({ to }) => ({
      recovery: 'idempotent',
      reach: to === undefined || postbox.isOwnerTarget(to) ? 'none' : 'third_party',
    }),
    gives: () => CLEAN_LABEL,
    destinations: ({ to }) => (to === undefined ? [] : [to]),
    content: () => [],
    refuses: ({ to }) => (to === undefined ? undefined : postbox.refusal(to)),
    run: ({ to = null, text }, { call, replyTo }) =>
      asToolResult(async () => {
        const { channel } = await postbox.post({ id: `say-${call}`, to, text, urgent: false, replyTo })
        return { status: 'ok', content: `message queued for ${channel}` }
      }),
  })
