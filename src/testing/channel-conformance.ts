/**
 * The channel's conformance suite: what every implementation of the port must show. Each case gets a channel and a hand on its other side:
 * for (const { name, run } of channelConformance) test(name, async () => run(await openOtherSide()))
 */

import assert from 'node:assert/strict'
import { TirelessError } from '../domain/error.ts'
import type { Message } from '../domain/message.ts'
import type { Channel } from '../ports/channel.ts'

export interface OtherSide {
  readonly channel: Channel
  /** What has arrived so far, one text each. */
  arrived(): Promise<readonly string[]>
  /** From now on nothing is answered, where there is somebody to answer. `reached`: resolves when something waits for an answer. */
  hang?(): Promise<{ readonly reached: Promise<unknown> }>
  /** From now on nothing is taken. */
  refuse?(): Promise<void>
}

export interface ChannelCase {
  readonly name: string
  run(side: OtherSide): Promise<void>
}

export const messageOf = (id: string, text: string): Message => ({
  ...{ id, chat_id: null, kind: 'notice', text, ts: '2026-01-01T00:00:00.000Z' },
})

const never = (): AbortSignal => new AbortController().signal

export const channelConformance: readonly ChannelCase[] = [
  {
    name: 'E12: what is delivered has arrived when it resolves, in every script, and whatever it looks like to a shell',
    async run({ channel, arrived }) {
      const text = 'Kernel[default] 周期完成总结\n- "quotes", `ticks` & $(id); \\n --flag 👍'
      assert.equal(channel.trouble(), null)
      await channel.deliver(messageOf('m1', text), never())
      const [only, ...more] = await arrived()
      assert.deepEqual([only, more], [text, []])
    },
  },
  {
    name: 'E12: messages arrive one by one, each time that they are delivered',
    async run({ channel, arrived }) {
      for (const id of ['m1', 'm2', 'm2']) await channel.deliver(messageOf(id, `text of\n${id}`), never())
      assert.deepEqual(await arrived(), ['text of\nm1', 'text of\nm2', 'text of\nm2'])
    },
  },
  {
    name: 'case 128: a delivery that nobody answers ends when it is told to, and may be tried again',
    async run({ channel, hang }) {
      if (!hang) return
      const { reached } = await hang()
      const enough = new AbortController()
      const delivering = channel.deliver(messageOf('m1', 'a\ntext'), enough.signal)
      await reached
      enough.abort()
      await assert.rejects(delivering, isRetry('later'))
    },
  },
  {
    name: 'E12: what the other side does not take is an error of ours, which says whether to try again',
    async run({ channel, refuse }) {
      if (!refuse) return
      await refuse()
      await assert.rejects(channel.deliver(messageOf('m1', 'a\ntext'), never()), isRetry('later', 'never'))
    },
  },
]

const isRetry =
  (...wanted: readonly string[]) =>
  (thrown: unknown): boolean =>
    thrown instanceof TirelessError && wanted.includes(thrown.retry)
