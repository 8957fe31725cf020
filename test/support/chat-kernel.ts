/** Kernels that tell a chat, for the tests of notices and of how they are delivered. */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { handleChatMessage } from '../../src/commands/lib/chat-commands.ts'
import type { Cycle, CycleResult } from '../../src/domain/cycle.ts'
import { TirelessError } from '../../src/domain/error.ts'
import type { ChannelMessage, OutboxMessage } from '../../src/domain/message.ts'
import type { Channel } from '../../src/ports/channel.ts'
import { commitOne } from '../../src/ports/store.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type ModelScript, scriptedModel } from '../../src/testing/scripted-model.ts'
import { type Described, diligent, type Home, kernelApp, livingFor } from './kernels.ts'
import { passing, until } from './open-app.ts'

/** Half past eight in the morning. */
export const MORNING = Date.UTC(2026, 0, 1, 8, 30)

/** A channel that keeps what it is handed, and does with it what the test says. */
export interface Chat extends Channel {
  readonly got: ChannelMessage[]
  does: () => unknown
}

export function chatChannel(): Chat {
  const chat: Chat = {
    ...{ name: 'chat', got: [], does: () => undefined, trouble: () => null },
    async deliver(message) {
      chat.got.push(message)
      await chat.does()
    },
  }
  return chat
}

export interface Told extends Home {
  readonly chat: Chat
}

interface Wanted {
  readonly agents?: readonly Described[]
  readonly kernel?: object
  readonly config?: object
  readonly script?: ModelScript
  readonly home?: string
  readonly clock?: FakeClock
  readonly chat?: Chat
  /** Nobody is told unless somebody asks for it. */
  readonly unbound?: boolean
}

export async function telling(t: TestContext, wanted: Wanted = {}): Promise<Told> {
  const { agents = [{ agent_id: 'a' }], script = diligent, chat = chatChannel(), unbound = false } = wanted
  const target = unbound ? {} : { channel: 'chat', chat_id: 'c1' }
  const home = await kernelApp(t, {
    ...{ agents, model: scriptedModel(script), clock: wanted.clock ?? new FakeClock({ now: MORNING }) },
    kernel: { ...target, ...wanted.kernel },
    config: { server: { port: 0 }, ...wanted.config },
    ...(wanted.home === undefined ? {} : { home: wanted.home }),
    options: { channels: [chat] },
  })
  return { ...home, chat }
}

/** Does something else each time that it is asked. */
export function busy(): ModelScript {
  let n = 0
  return (request) => {
    const said = diligent(request)
    n += 1
    return said.text === undefined ? said : { text: `## Execution Summary\nwrote ${'x'.repeat(n)}` }
  }
}

export const failing = (code: 'model_auth' | 'model_refused'): ModelScript => {
  return () => {
    throw new TirelessError(code, 'no')
  }
}

export const once = async ({ app, clock }: Home): Promise<CycleResult> =>
  (await passing(clock, app.run('once', {}))) as CycleResult

export const untilIdle = ({ app, clock }: Home): Promise<unknown> =>
  passing(clock, app.run('start', { until_idle: true }))

export const outbox = async ({ app }: Home, filter = {}): Promise<readonly OutboxMessage[]> =>
  ((await app.run('notices list', filter)) as { items: OutboxMessage[] }).items

export const cycles = async ({ app }: Home): Promise<readonly Cycle[]> =>
  ((await app.run('cycles list', { limit: 1000 })) as { items: Cycle[] }).items

export const say = ({ app }: Home, text: string, message_id: string): Promise<{ readonly duplicate: boolean }> =>
  handleChatMessage(app.context, { channel: 'chat', chat_id: 'c9', user_id: 'u', message_id, text })

/** The chat in which it is said becomes the owner's, by his own word; where notices go is what it was. */
export async function pairChat({ app }: Home): Promise<void> {
  const bound = await app.context.store.setting('notice')
  await app.run('channels pair', { name: 'chat', chat: 'c9' })
  await commitOne(app.context.store, [{ op: 'set', name: 'notice', value: bound }])
}

export const texts = ({ chat }: Told): string[] => chat.got.map(({ text }) => text)
export const of = ({ chat }: Told, wanted: ChannelMessage['kind']): ChannelMessage[] =>
  chat.got.filter(({ kind }) => kind === wanted)

/** From now on it lives, as long as the test does; the cycle that a new kernel begins with is over. */
export async function live(its: Home): Promise<void> {
  its.app.run('start', {}).catch(() => {})
  await until(async () => {
    const [last] = await cycles(its)
    return last !== undefined && last.ended_at !== null && its.app.context.kernel.nextBeatAt() !== undefined
  })
}

/** Until the next beat, and until its cycle is over. */
export async function beat(its: Home): Promise<Cycle> {
  const before = (await cycles(its)).length
  const next = its.app.context.kernel.nextBeatAt()
  assert.ok(next !== undefined)
  await livingFor(its.clock, next - its.clock.now())
  let last: Cycle | undefined
  await until(async () => {
    const now = await cycles(its)
    last = now[0]
    return now.length > before && last?.ended_at !== null
  })
  assert.ok(last)
  return last
}
