/** Kernels with a chat channel, for tests of notices and their delivery. */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { handleChatMessage } from '../../src/commands/lib/chat-commands.ts'
import type { CycleResult } from '../../src/domain/cycle.ts'
import { TirelessError } from '../../src/domain/error.ts'
import type { ChannelMessage, OutboxMessage } from '../../src/domain/message.ts'
import type { Channel } from '../../src/ports/channel.ts'
import { commitOne } from '../../src/ports/store.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type ModelScript, scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  diligentScript,
  type KernelHome,
  type ListedCycle,
  openKernelApp,
  runClockFor,
  type TestAgent,
} from './kernels.ts'
import { advanceUntilDone, waitUntil } from './open-app.ts'

/** 08:30 UTC. */
export const MORNING = Date.UTC(2026, 0, 1, 8, 30)

/** A channel that records each message and then runs the test's `onDeliver`. */
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
  /** No notice target is configured. */
  readonly withoutTarget?: boolean
}

export async function openChatKernel(t: TestContext, options: ChatKernelOptions = {}): Promise<ChatHome> {
  const {
    agents = [{ agent_id: 'a' }],
    script = diligentScript,
    chat = chatChannel(),
    withoutTarget: unbound = false,
  } = options
  const target = unbound ? {} : { channel: 'chat', chat_id: 'c1' }
  const home = await openKernelApp(t, {
    ...{ agents, model: scriptedModel(script), clock: options.clock ?? new FakeClock({ now: MORNING }) },
    kernel: { ...target, ...options.kernel },
    config: { server: { port: 0 }, ...options.config },
    ...(options.home === undefined ? {} : { home: options.home }),
    options: { channels: [chat] },
  })
  return { ...home, chat }
}

/** Writes a different summary in each run, so that no run looks like a repetition. */
export function busyScript(): ModelScript {
  let n = 0
  return (request) => {
    const answer = diligentScript(request)
    n += 1
    return answer.text === undefined ? answer : { text: `## Execution Summary\nwrote ${'x'.repeat(n)}` }
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
  (await app.run('notices list', filter)).items

export const cyclesOf = async ({ app }: KernelHome): Promise<readonly ListedCycle[]> =>
  (await app.run('cycles list', { limit: 1000 })).items

export const sendChatMessage = (
  { app }: KernelHome,
  text: string,
  message_id: string,
): Promise<{ readonly duplicate: boolean }> =>
  handleChatMessage(app.context, { channel: 'chat', chat_id: 'c9', user_id: 'u', message_id, text })

/** Pairs chat c9 with the owner; the notice target stays as it was. */
export async function pairChat({ app }: KernelHome): Promise<void> {
  const target = await app.context.store.setting('notice')
  await app.run('channels pair', { name: 'chat', chat: 'c9' })
  await commitOne(app.context.store, [{ op: 'set', name: 'notice', value: target }])
}

export const deliveredTexts = ({ chat }: ChatHome): string[] => chat.received.map(({ text }) => text)
export const deliveredOfKind = ({ chat }: ChatHome, options: ChannelMessage['kind']): ChannelMessage[] =>
  chat.received.filter(({ kind }) => kind === options)

/** Starts the kernel until the test ends. Contract: the first cycle has ended when it resolves. */
export async function startAndAwaitFirstCycle(home: KernelHome): Promise<void> {
  home.app.run('start', {}).catch(() => {})
  await waitUntil(async () => {
    const [last] = await cyclesOf(home)
    return last !== undefined && last.ended_at !== null && home.app.context.kernel.nextBeatAt() !== undefined
  })
}

/** Advances the clock to the next beat. Contract: resolves with the beat's cycle once it has ended. */
export async function runNextBeat(home: KernelHome): Promise<ListedCycle> {
  const before = (await cyclesOf(home)).length
  const next = home.app.context.kernel.nextBeatAt()
  assert.ok(next !== undefined)
  await runClockFor(home.clock, next - home.clock.now())
  let last: ListedCycle | undefined
  await waitUntil(async () => {
    const now = await cyclesOf(home)
    last = now[0]
    return now.length > before && last?.ended_at !== null
  })
  assert.ok(last)
  return last
}
