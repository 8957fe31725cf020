/** A chat whose deliveries are lines of a file, so that they outlive the process that made them. */

import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../../src/app.ts'
import { handleChatMessage } from '../../src/commands/lib/chat-commands.ts'
import type { Channel } from '../../src/ports/channel.ts'
import { TASK } from '../support/word-counter.ts'

interface Delivery {
  readonly id: string
  readonly text: string
}

const deliveries = (home: string): string => join(home, 'delivered')

export const fileChannel = (home: string): Channel => ({
  ...{ name: 'chat', trouble: () => null },
  async deliver({ id, text }) {
    appendFileSync(deliveries(home), `${JSON.stringify({ id, text })}\n`)
  },
})

/** Contract: what was delivered, by id: a delivery that was not noted before a crash is repeated under the same id. */
export function delivered(home: string): readonly Delivery[] {
  const lines = existsSync(deliveries(home)) ? readFileSync(deliveries(home), 'utf8').trim().split('\n') : []
  const all = lines.map((line) => JSON.parse(line) as Delivery)
  return [...new Map(all.map((delivery) => [delivery.id, delivery])).values()]
}

/** The chat sends the task; it sends it again until it hears that it was accepted. */
export const receiveTask = (app: App): Promise<{ readonly duplicate: boolean }> =>
  handleChatMessage(app.context, { channel: 'chat', chat_id: 'c9', user_id: 'u', message_id: 'm1', text: TASK })
