/** Conformance of channels with a connection: messages are acknowledged when they are on disk, and an abort ends it. */

import assert from 'node:assert/strict'
import type { ChatMessage } from '../domain/message.ts'
import type { ChannelCase, ChannelPeer } from './channel-peer.ts'

const NO_CONNECTION = 'the channel has no connection'
const NO_PERSON = 'no person can write in this chat'

/** Connects for the time of the work. `keep`: what happens to a message before it counts as received. */
async function whileConnected(
  { channel }: ChannelPeer,
  keep: (message: ChatMessage) => Promise<{ readonly duplicate: boolean }>,
  work: (ended: Promise<void>, controller: AbortController) => Promise<void>,
): Promise<void> {
  const controller = new AbortController()
  const made = Promise.withResolvers<void>()
  const listener = { connected: () => made.resolve(), receive: keep }
  const ended = channel.connect?.(listener, controller.signal) ?? Promise.reject(new Error(NO_CONNECTION))
  ended.catch(made.reject)
  try {
    await made.promise
    await work(ended, controller)
  } finally {
    controller.abort()
    await ended.catch(() => {})
  }
}

export const connectionConformance: readonly ChannelCase[] = [
  {
    name: 'E12: a message is acknowledged only after it was received',
    async run(side, skip) {
      if (!side.channel.connect) return skip?.(NO_CONNECTION)
      const { say } = side
      if (!say) return skip?.(NO_PERSON)
      const order: string[] = []
      const arrived = Promise.withResolvers<ChatMessage>()
      const keep = async (message: ChatMessage) => {
        arrived.resolve(message)
        // Lets an early acknowledgement arrive.
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
        order.push('received')
        return { duplicate: false }
      }
      await whileConnected(side, keep, async () => {
        await say('你好 👋').then(() => order.push('acknowledged'))
        const { text, channel, message_id } = await arrived.promise
        assert.deepEqual({ text, channel }, { text: '你好 👋', channel: side.channel.name })
        assert.ok(typeof message_id === 'string' && message_id !== '')
      })
      assert.deepEqual(order, ['received', 'acknowledged'])
    },
  },
  {
    name: 'E12: an abort ends the connection, and connect resolves',
    async run(side, skip) {
      if (!side.channel.connect) return skip?.(NO_CONNECTION)
      await whileConnected(
        side,
        async () => ({ duplicate: false }),
        async (ended, controller) => {
          controller.abort()
          await ended
        },
      )
    },
  },
  {
    name: 'E12: a lost connection rejects, so that it is made again',
    async run(side, skip) {
      if (!side.channel.connect) return skip?.(NO_CONNECTION)
      const { disconnect } = side
      if (!disconnect) return skip?.('the receiver keeps its connections')
      await whileConnected(
        side,
        async () => ({ duplicate: false }),
        async (ended) => {
          await disconnect()
          await assert.rejects(ended)
        },
      )
    },
  },
]
