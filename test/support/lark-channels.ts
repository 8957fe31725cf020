/** The channel `lark` as the tests open it, and what it receives over its connection. */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type LarkSettings, larkChannel } from '../../src/adapters/channels/lark/lark-channel.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import type { ChatMessage } from '../../src/domain/message.ts'
import type { Channel } from '../../src/ports/channel.ts'
import type { LarkServer } from './lark-server.ts'

interface LarkChannel {
  readonly channel: Channel
  /** What the SDK logged. */
  readonly logged: readonly string[]
}

export function channelTo(lark: LarkServer, changes: Partial<LarkSettings> = {}, pongSeconds?: number): LarkChannel {
  const settings: LarkSettings = {
    ...{ app_id: lark.appId, domain: lark.url, mode: 'connection', chat_id: 'oc_home' },
    ...{ appSecret: () => lark.appSecret, encryptKey: () => undefined, verificationToken: () => undefined },
    ...changes,
  }
  const logged: string[] = []
  const log = (text: string): void => void logged.push(text)
  return { channel: larkChannel(() => settings, { clock: systemClock, log, pongSeconds }), logged }
}

interface Connected {
  readonly received: readonly ChatMessage[]
  /** How the connection ended. */
  readonly ended: Promise<void>
  stop(): void
}

/** Connects a channel until the test ends. `handle`: what happens to a message before it is acknowledged. */
export async function connectChannel(
  t: TestContext,
  channel: Channel,
  handle: (message: ChatMessage) => Promise<void> = async () => {},
): Promise<Connected> {
  const received: ChatMessage[] = []
  const controller = new AbortController()
  const connected = Promise.withResolvers<void>()
  const listener = {
    connected: () => connected.resolve(),
    async receive(message: ChatMessage) {
      received.push(message)
      await handle(message)
      return { duplicate: false }
    },
  }
  const ended = channel.connect?.(listener, controller.signal) ?? assert.fail('the channel has no connection')
  ended.catch(() => {})
  t.after(async () => {
    controller.abort()
    await ended.catch(() => {})
  })
  await Promise.race([connected.promise, ended])
  return { received, ended, stop: () => controller.abort() }
}
