/**
 * The conformance suite of the channel port. Each case gets a channel and access to its receiver:
 * for (const { name, run } of channelConformance)
 *   test(name, async (t) => run(await openOtherSide(), (why) => t.skip(why)))
 * A case that needs what the channel or the receiver does not have is skipped, with the reason.
 */

import assert from 'node:assert/strict'
import { TirelessError } from '../domain/error.ts'
import type { ChannelMessage } from '../domain/message.ts'
import type { ChannelCase } from './channel-peer.ts'
import { connectionConformance } from './connection-conformance.ts'

export const channelMessage = (id: string, text: string): ChannelMessage => ({
  ...{ id, chat_id: null, kind: 'notice', text, ts: '2026-01-01T00:00:00.000Z' },
})

const neverAborts = (): AbortSignal => new AbortController().signal

const newCard = (text: string, ...commands: readonly string[]): Pick<ChannelMessage, 'text' | 'card'> => ({
  text,
  card: {
    title: 'waiting',
    items: [{ id: 'i', text, actions: commands.map((command) => ({ label: 'Do it', command })) }],
  },
})

const NO_VIEW = 'the receiver cannot tell what is shown'

const deliveryConformance: readonly ChannelCase[] = [
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
    async run({ channel, stopAnswering: hang }, skip) {
      if (!hang) return skip?.('the receiver never answers')
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
    async run({ channel, startRefusing: refuse }, skip) {
      if (!refuse) return skip?.('the receiver refuses nothing')
      await refuse()
      await assert.rejects(channel.deliver(channelMessage('m1', 'a\ntext'), neverAborts()), hasRetry('later', 'never'))
    },
  },
  {
    name: 'E12: a rate limit is channel_limited, with the time after which to come again',
    async run({ channel, startLimiting: limit }, skip) {
      if (!limit) return skip?.('the receiver has no rate limit')
      await limit(7000)
      await assert.rejects(channel.deliver(channelMessage('m1', 'a\ntext'), neverAborts()), (thrown) => {
        assert.ok(thrown instanceof TirelessError)
        const { code, retryAfterMs = 0 } = thrown
        assert.equal(code, 'channel_limited')
        assert.ok(retryAfterMs >= 1000 && retryAfterMs <= 60_000, `come again after ${retryAfterMs} ms`)
        return true
      })
    },
  },
  {
    name: 'E12: garbage from the receiver is an error that says whether to retry, or is accepted; it breaks nothing',
    async run({ channel, startGarbage }, skip) {
      if (!startGarbage) return skip?.('the receiver sends nothing back')
      await startGarbage()
      const returned = await channel.deliver(channelMessage('m1', 'a\ntext'), neverAborts()).catch((thrown) => {
        assert.ok(hasRetry('later', 'never')(thrown), String(thrown))
      })
      assert.ok(returned === undefined || typeof returned === 'string')
    },
  },
]

const capabilityConformance: readonly ChannelCase[] = [
  {
    name: 'E12: a card arrives, at least as its text; what it says and its buttons are shown',
    async run({ channel, listArrived, listVisible }, skip) {
      await channel.deliver({ ...channelMessage('m1', ''), ...newCard('two\nwait', '/allow 1') }, neverAborts())
      if (!listVisible) {
        assert.equal((await listArrived()).length, 1)
        return skip?.(NO_VIEW)
      }
      const [shown] = await listVisible()
      assert.match(shown?.text ?? '', /two[\s\S]*wait/)
      assert.deepEqual(shown?.commands, ['/allow 1'])
    },
  },
  {
    name: 'E12: a new version of a message replaces the one before; its buttons are gone',
    async run({ channel, listVisible }, skip) {
      if (!channel.replaces) return skip?.('the channel does not replace messages')
      if (!listVisible) return skip?.(NO_VIEW)
      const first = await channel.deliver(
        { ...channelMessage('m1', ''), ...newCard('wait', '/allow 1') },
        neverAborts(),
      )
      assert.ok(typeof first === 'string' && first !== '' && first.length <= 500, 'deliver returns the id')
      const over = { ...channelMessage('m1.v2', ''), ...newCard('allowed'), replaces: first }
      const second = await channel.deliver(over, neverAborts())
      assert.equal(typeof second, 'string')
      const again = { ...channelMessage('m1.v3', ''), ...newCard('allowed again'), replaces: String(second) }
      await channel.deliver(again, neverAborts())
      const [shown, ...more] = await listVisible()
      assert.match(shown?.text ?? '', /allowed again/)
      assert.deepEqual([shown?.commands, more], [[], []])
    },
  },
  {
    name: 'E12: a file arrives with its name and content; one that is gone is an error, not a crash',
    async run({ channel, writeFile, listVisible }, skip) {
      if (!channel.sendsFiles) return skip?.('the channel sends no files')
      if (!listVisible || !writeFile) return skip?.(NO_VIEW)
      const path = await writeFile('报告 1.md', '# 结果\n')
      await channel.deliver({ ...channelMessage('m1', ''), file: { name: '报告 1.md', path } }, neverAborts())
      const shown = await listVisible()
      assert.deepEqual(
        shown.flatMap(({ files }) => files),
        [{ name: '报告 1.md', content: '# 结果\n' }],
      )
      const gone = { ...channelMessage('m2', ''), file: { name: 'gone.md', path: `${path}.gone` } }
      const failed = await channel.deliver(gone, neverAborts()).catch((thrown) => thrown)
      assert.ok(!(failed instanceof Error) || failed instanceof TirelessError, String(failed))
    },
  },
  {
    name: 'E12: a probe says what answered, without a message to a person',
    async run({ channel, listArrived }, skip) {
      if (!channel.probe) return skip?.('the channel has no probe')
      assert.equal(typeof (await channel.probe(neverAborts())), 'string')
      assert.deepEqual(await listArrived(), [])
    },
  },
]

export const channelConformance: readonly ChannelCase[] = [
  ...deliveryConformance,
  ...capabilityConformance,
  ...connectionConformance,
]

const hasRetry =
  (...wanted: readonly string[]) =>
  (thrown: unknown): boolean =>
    thrown instanceof TirelessError && wanted.includes(thrown.retry)
