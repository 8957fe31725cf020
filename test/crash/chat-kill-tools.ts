/** The parts of a conversation in a thread that is killed: its channel, its model and its message. */

import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../../src/app.ts'
import { handleChatMessage } from '../../src/commands/lib/chat-commands.ts'
import type { ChannelMessage } from '../../src/domain/message.ts'
import type { Channel } from '../../src/ports/channel.ts'
import { type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { routing } from '../support/conversations.ts'

const deliveries = (home: string): string => join(home, 'delivered')

/** `during`: runs after the receiver has the message, and before the program knows. */
export const deliveringChannel = (home: string, during: () => void = () => {}): Channel => ({
  ...{ name: 'chat', trouble: () => null },
  async deliver({ id, text, thread_id }) {
    appendFileSync(deliveries(home), `${JSON.stringify({ id, text, thread_id })}\n`)
    during()
  },
})

/** What the receiver got, duplicates included. */
export function deliveredMessages(home: string): readonly Pick<ChannelMessage, 'id' | 'text' | 'thread_id'>[] {
  if (!existsSync(deliveries(home))) return []
  return readFileSync(deliveries(home), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** In front of the chat it starts a session with a quick reply; the session writes a file, then answers. */
export const answeringModel = (): ScriptedModel =>
  scriptedModel(({ tools, messages }) => {
    if (tools.some(({ name }) => name === 'route')) return routing({ new: true, reply: 'On it.' })
    if (messages.some(({ role }) => role === 'tool')) return { text: 'Written.' }
    return { calls: [{ tool: 'create_file', args: { path: 'note.md', content: 'hello' } }] }
  })

/** The chat sends the message again until it hears that it was accepted. */
export const receiveChatTask = (app: App): Promise<{ readonly duplicate: boolean }> =>
  handleChatMessage(app.context, {
    ...{ channel: 'chat', chat_id: 'c9', user_id: 'u', message_id: 'm1', thread_id: 't1', text: 'write a note' },
  })
