/**
 * The conformance suite of the channel port. Each case gets a channel and access to its receiver:
 * for (const { name, run } of channelConformance) test(name, async () => run(await openOtherSide()))
 */

import assert from 'node:assert/strict'
import { TirelessError } from '../domain/error.ts'
import type { ChannelMessage } from '../domain/message.ts'
import type { Channel } from '../ports/channel.ts'

export interface ChannelPeer {
  readonly channel: Channel
  /** The texts of the messages that arrived so far. */
  listArrived(): Promise<readonly string[]>
  /**
   * Makes the receiver stop answering; missing if the receiver never answers. `reached` resolves when a delivery waits
   * for an answer.
   */
  stopAnswering?(): Promise<{ readonly reached: Promise<unknown> }>
  /** Makes the receiver refuse messages. */
  startRefusing?(): Promise<void>
}

export interface ChannelCase {
  readonly name: string
  run(side: ChannelPeer): Promise<void>
}

export const channelMessage = (id: string, text: string): ChannelMessage => ({
  ...{ id, chat_id: null, kind: 'notice', text, ts: '2026-01-01T00:00:00.000Z' },
})

const neverAborts = (): AbortSignal => new AbortController().signal

export const channelConformance: readonly ChannelCase[] = [
  {
    name: 'E12: a delivery resolves after arrival; text in any language and with shell characters is unchanged',
    async run({ channel, listArrived: arrived }) {
      const text = 'Kernel[default] 周期完成总结\n- "quotes", `ticks` & $(id); \\n --flag 👍'
      assert.equal(channel.trouble(), null)
      await channel.deliver(channelMessage('m1', text), neverAborts())
      const [only, ...more] = await arrived()
      assert.deepEqual([only, more], [text, []])
    },
  },
  {
    name: 'E12: every delivery arrives, also of the same message',
    async run({ channel, listArrived: arrived }) {
      for (const id of ['m1', 'm2', 'm2']) await channel.deliver(channelMessage(id, `text of\n${id}`), neverAborts())
      assert.deepEqual(await arrived(), ['text of\nm1', 'text of\nm2', 'text of\nm2'])
    },
  },
  {
    name: 'case 128: an abort ends an unanswered delivery, which may be retried',
    async run({ channel, stopAnswering: hang }) {
      if (!hang) return
      const { reached } = await hang()
      const controller = new AbortController()
      const delivering = channel.deliver(channelMessage('m1', 'a\ntext'), controller.signal)
      await reached
      controller.abort()
      await assert.rejects(delivering, hasRetry('later'))
    },
  },
  {
    name: 'E12: a refused message throws a TirelessError that says whether to retry',
    async run({ channel, startRefusing: refuse }) {
      if (!refuse) return
      await refuse()
      await assert.rejects(channel.deliver(channelMessage('m1', 'a\ntext'), neverAborts()), hasRetry('later', 'never'))
    },
  },
]

const hasRetry =
  (...wanted: readonly string[]) =>
  (thrown: unknown): boolean =>
    thrown instanceof TirelessError && wanted.includes(thrown.retry)
