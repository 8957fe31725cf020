/** Channels: which there are, whom notices go to, whether a message comes through, and what is in the outbox. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import { MESSAGE_KINDS, POSTED_STATUSES } from '../domain/message.ts'
import { attempt } from '../kernel/deliverer.ts'
import { bind } from '../kernel/target.ts'
import type { Channel } from '../ports/channel.ts'
import { iso } from '../ports/clock.ts'
import { commitOne } from '../ports/store.ts'
import { type Context, command } from './command.ts'

const targetShape = z.object({
  channel: z.string(),
  chat_id: z.string().nullable(),
  by: z.enum(['config', 'person']),
})

const NOTHING_YET = { pending: 0, failed: 0, last_sent_at: null, last_error: null }

export const channelsList = command({
  name: 'channels list',
  summary: 'the ways to people: which work here, what they have delivered, and whom notices go to',
  place: 'home',
  input: z.object({}),
  output: z.object({
    items: z.array(
      z.object({
        name: z.string(),
        trouble: z.string().nullable(),
        receives: z.boolean(),
        bound: z.boolean(),
        pending: z.number(),
        failed: z.number(),
        last_sent_at: z.string().nullable(),
        last_error: z.string().nullable(),
      }),
    ),
    target: targetShape.nullable(),
  }),
  async run({ channels, notifier, store }) {
    const target = await notifier.target()
    const deliveries = await store.deliveries()
    // One that messages are addressed to and that is not there is the one to be seen.
    const names = new Set(
      [...channels.keys(), ...deliveries.map(({ channel }) => channel), target?.channel ?? []].flat(),
    )
    const items = [...names].map((name) => {
      const { channel: _, ...sent } = deliveries.find(({ channel }) => channel === name) ?? {
        channel: name,
        ...NOTHING_YET,
      }
      const channel = channels.get(name)
      return {
        name,
        trouble: troubleOf(channels, name),
        receives: channel?.receive !== undefined,
        bound: target?.channel === name,
        ...sent,
      }
    })
    return { items, target }
  },
})

export const channelsTest = command({
  name: 'channels test',
  summary: 'deliver a message now, and say whether it was taken',
  place: 'home',
  input: z.object({
    name: z.string().describe('of the channel'),
    chat: z.string().optional().describe('in that chat; default: where the channel goes by itself'),
  }),
  positional: ['name'],
  output: z.object({ channel: z.string(), delivered: z.boolean(), error: z.string().nullable() }),
  async run(context, { name, chat }) {
    channelNamed(context, name)
    const { clock, ids, kernelId, notifier } = context
    const target = await notifier.target()
    const message = {
      id: `test-${ids.next()}`,
      chat_id: chat ?? (target?.channel === name ? target.chat_id : null),
      kind: 'reply' as const,
      text: TEST[notifier.language()](kernelId),
      ts: iso(clock.now()),
    }
    const failure = await attempt(context, name, message)
    return { channel: name, delivered: failure === null, error: failure?.message ?? null }
  },
  exit: ({ delivered }) => (delivered ? 0 : 1),
})

const TEST = {
  en: (kernel: string) => `Kernel[${kernel}]: a test. If you can read this, messages come through.`,
  zh: (kernel: string) => `Kernel[${kernel}]：测试消息。能看到这条消息，说明通道可用。`,
}

export const channelsPair = command({
  name: 'channels pair',
  summary: 'let notices go to a channel, without a restart',
  place: 'home',
  input: z.object({
    name: z.string().describe('of the channel'),
    chat: z.string().optional().describe('in that chat; default: where the channel goes by itself'),
  }),
  positional: ['name'],
  output: z.object({ target: targetShape.nullable() }),
  async run(context, { name, chat }, tell) {
    const trouble = channelNamed(context, name).trouble()
    if (trouble !== null) tell({ kind: 'note', text: `${name} cannot deliver yet: ${trouble}` })
    await commitOne(context.store, [bind({ channel: name, chat_id: chat ?? null })])
    return { target: await context.notifier.target() }
  },
})

export const channelsUnpair = command({
  name: 'channels unpair',
  summary: 'let notices go where the configuration says again',
  place: 'home',
  input: z.object({}),
  output: z.object({ target: targetShape.nullable() }),
  async run({ store, notifier }) {
    await commitOne(store, [bind(null)])
    return { target: await notifier.target() }
  },
})

export const noticesList = command({
  name: 'notices list',
  summary: 'what people were told, newest first, and what has become of it',
  place: 'home',
  input: z.object({
    status: z.enum(POSTED_STATUSES).optional().describe('only those'),
    channel: z.string().optional().describe('only by that one'),
    limit: z.int().positive().default(20).describe('at most so many'),
  }),
  output: z.object({
    items: z.array(
      z.object({
        id: z.string(),
        channel: z.string(),
        chat_id: z.string().nullable(),
        kind: z.enum(MESSAGE_KINDS),
        text: z.string(),
        ts: z.string(),
        status: z.enum(POSTED_STATUSES),
        attempts: z.number(),
        due: z.string(),
        sent_at: z.string().nullable(),
        error: z.string().nullable(),
      }),
    ),
  }),
  async run({ store }, filter) {
    return { items: [...(await store.outbox(filter))] }
  },
})

/** Contract: why nothing can be delivered by it; null where it can. */
export const troubleOf = (channels: Context['channels'], name: string): string | null =>
  channels.has(name) ? (channels.get(name)?.trouble() ?? null) : 'there is no such channel here'

function channelNamed({ channels }: Context, name: string): Channel {
  const channel = channels.get(name)
  if (channel) return channel
  const expected = [...channels.keys()].join(', ')
  throw new TirelessError('not_found', { what: 'there is no such channel here', got: name, expected })
}
