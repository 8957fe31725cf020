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
import { diligentScript, type KernelHome, openKernelApp, runClockFor, type TestAgent } from './kernels.ts'
import { advanceUntilDone, waitUntil } from './open-app.ts'

/** Half past eight in the morning. */
export const MORNING = Date.UTC(2026, 0, 1, 8, 30)

/** A channel that keeps what it is handed, and does with it what the test says. */
export interface RecordingChannel extends Channel {
  readonly received: ChannelMessage[]
  onDeliver: () => unknown
}

export function chatChannel(): RecordingChannel {
  const chat: RecordingChannel = {
    ...{ name: 'chat', received: [], onDeliver: () => undefined, trouble: () => null },
    async deliver(message) {
      chat.received.push(message)
      await chat.onDeliver()
    },
  }
  return chat
}

export interface ChatHome extends KernelHome {
  readonly chat: RecordingChannel
}

interface ChatKernelOptions {
  readonly agents?: readonly TestAgent[]
  readonly kernel?: object
  readonly config?: object
  readonly script?: ModelScript
  readonly home?: string
  readonly clock?: FakeClock
  readonly chat?: RecordingChannel
  /** Nobody is told unless somebody asks for it. */
  readonly withoutTarget?: boolean
}

export async function openChatKernel(t: TestContext, wanted: ChatKernelOptions = {}): Promise<ChatHome> {
  const {
    agents = [{ agent_id: 'a' }],
    script = diligentScript,
    chat = chatChannel(),
    withoutTarget: unbound = false,
  } = wanted
  const target = unbound ? {} : { channel: 'chat', chat_id: 'c1' }
  const home = await openKernelApp(t, {
    ...{ agents, model: scriptedModel(script), clock: wanted.clock ?? new FakeClock({ now: MORNING }) },
    kernel: { ...target, ...wanted.kernel },
    config: { server: { port: 0 }, ...wanted.config },
    ...(wanted.home === undefined ? {} : { home: wanted.home }),
    options: { channels: [chat] },
  })
  return { ...home, chat }
}

/** Does something else each time that it is asked. */
export function busyScript(): ModelScript {
  let n = 0
  return (request) => {
    const said = diligentScript(request)
    n += 1
    return said.text === undefined ? said : { text: `## Execution Summary\nwrote ${'x'.repeat(n)}` }
  }
}

export const failingScript = (code: 'model_auth' | 'model_refused'): ModelScript => {
  return () => {
    throw new TirelessError(code, 'no')
  }
}

export const runCycle = async ({ app, clock }: KernelHome): Promise<CycleResult> =>
  (await advanceUntilDone(clock, app.run('once', {}))) as CycleResult

export const runUntilIdle = ({ app, clock }: KernelHome): Promise<unknown> =>
  advanceUntilDone(clock, app.run('start', { until_idle: true }))

export const listOutbox = async ({ app }: KernelHome, filter = {}): Promise<readonly OutboxMessage[]> =>
  ((await app.run('notices list', filter)) as { items: OutboxMessage[] }).items

export const cyclesOf = async ({ app }: KernelHome): Promise<readonly Cycle[]> =>
  ((await app.run('cycles list', { limit: 1000 })) as { items: Cycle[] }).items

export const sendChatMessage = (
  { app }: KernelHome,
  text: string,
  message_id: string,
): Promise<{ readonly duplicate: boolean }> =>
  handleChatMessage(app.context, { channel: 'chat', chat_id: 'c9', user_id: 'u', message_id, text })

/** The chat in which it is said becomes the owner's, by his own word; where notices go is what it was. */
export async function pairChat({ app }: KernelHome): Promise<void> {
  const bound = await app.context.store.setting('notice')
  await app.run('channels pair', { name: 'chat', chat: 'c9' })
  await commitOne(app.context.store, [{ op: 'set', name: 'notice', value: bound }])
}

export const deliveredTexts = ({ chat }: ChatHome): string[] => chat.received.map(({ text }) => text)
export const deliveredOfKind = ({ chat }: ChatHome, wanted: ChannelMessage['kind']): ChannelMessage[] =>
  chat.received.filter(({ kind }) => kind === wanted)

/** From now on it lives, as long as the test does; the cycle that a new kernel begins with is over. */
export async function startAndAwaitFirstCycle(its: KernelHome): Promise<void> {
  its.app.run('start', {}).catch(() => {})
  await waitUntil(async () => {
    const [last] = await cyclesOf(its)
    return last !== undefined && last.ended_at !== null && its.app.context.kernel.nextBeatAt() !== undefined
  })
}

/** Until the next beat, and until its cycle is over. */
export async function runNextBeat(its: KernelHome): Promise<Cycle> {
  const before = (await cyclesOf(its)).length
  const next = its.app.context.kernel.nextBeatAt()
  assert.ok(next !== undefined)
  await runClockFor(its.clock, next - its.clock.now())
  let last: Cycle | undefined
  await waitUntil(async () => {
    const now = await cyclesOf(its)
    last = now[0]
    return now.length > before && last?.ended_at !== null
  })
  assert.ok(last)
  return last
}
