/** Channels: which there are, whom notices go to, whether a message comes through, and what is in the outbox. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import { MESSAGE_KINDS, POSTED_STATUSES } from '../domain/message.ts'
import { attempt } from '../kernel/deliverer.ts'
import { beginPairing, codeFrom, isSameChat, keepPaired, keepPairing, PAIRED, pairedIn } from '../kernel/pairing.ts'
import { bind } from '../kernel/target.ts'
import type { Channel } from '../ports/channel.ts'
import { iso } from '../ports/clock.ts'
import { commitOne, type Op } from '../ports/store.ts'
import { type Context, command } from './command.ts'

const targetShape = z.object({
  channel: z.string(),
  chat_id: z.string().nullable(),
  by: z.enum(['config', 'person']),
})

const pairedShape = z.object({ channel: z.string(), chat_id: z.string().nullable(), paired_at: z.string() })

const NOTHING_YET = { pending: 0, failed: 0, last_sent_at: null, last_error: null }

export const channelsList = command({
  name: 'channels list',
  summary: 'the ways to people: which work here, what they have delivered, and whom notices go to',
  runsIn: 'any_process',
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
    paired: z
      .array(pairedShape)
      .describe('chats whose words count as yours, beside those that the configuration names'),
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
    const paired = pairedIn(await store.setting(PAIRED)).map((chat) => ({ ...chat }))
    return { items, target, paired }
  },
})

export const channelsTest = command({
  name: 'channels test',
  summary: 'deliver a message now, and say whether it was taken',
  runsIn: 'any_process',
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
  summary: 'let notices go to a channel, and get a code by which a chat of it becomes yours',
  runsIn: 'any_process',
  input: z.object({
    name: z.string().describe('of the channel'),
    chat: z.string().optional().describe('that chat, which is yours from now on; default: the one that says the code'),
  }),
  positional: ['name'],
  output: z.object({
    target: targetShape.nullable(),
    code: z.string().nullable().describe('said in a chat as /pair CODE: for ten minutes, once, with five tries'),
    expires_at: z.string().nullable(),
  }),
  async run(context, { name, chat }, tell) {
    const { store, clock, ids, notifier } = context
    const channel = channelNamed(context, name)
    const trouble = channel.trouble()
    if (trouble !== null) tell({ kind: 'note', text: `${name} cannot deliver yet: ${trouble}` })
    const now = clock.now()
    const binding = bind({ channel: name, chat_id: chat ?? null })
    if (chat !== undefined || !channel.receive) {
      await commitOne(store, [binding, ...(chat === undefined ? [] : [await pairNow(store, name, chat, iso(now))])])
      return { target: await notifier.target(), code: null, expires_at: null }
    }
    const code = codeFrom(`${ids.next()}${ids.next()}`)
    const pairing = beginPairing(name, code, now)
    await commitOne(store, [binding, keepPairing(pairing)])
    return { target: await notifier.target(), code, expires_at: iso(pairing.until) }
  },
})

/** The owner has named it himself. */
async function pairNow(store: Context['store'], channel: string, chat_id: string, paired_at: string): Promise<Op> {
  const chat = { channel, chat_id, paired_at }
  return keepPaired([...pairedIn(await store.setting(PAIRED)).filter((one) => !isSameChat(one, chat)), chat])
}

export const channelsUnpair = command({
  name: 'channels unpair',
  summary: 'let notices go where the configuration says again; with a name, its chats are no more yours',
  runsIn: 'any_process',
  input: z.object({
    name: z.string().optional().describe('of the channel'),
    chat: z.string().optional().describe('only that chat of it'),
  }),
  positional: ['name'],
  output: z.object({ target: targetShape.nullable(), unpaired: z.array(pairedShape) }),
  async run({ store, notifier }, { name, chat }) {
    const paired = pairedIn(await store.setting(PAIRED)).map((one) => ({ ...one }))
    const isMeant = (one: { channel: string; chat_id: string | null }): boolean =>
      one.channel === name && (chat === undefined || one.chat_id === chat)
    const target = (await notifier.unpairedTarget()) ?? (await notifier.target())
    const isBound = name === undefined || (target?.by === 'person' && isMeant(target))
    const left = paired.filter((one) => !isMeant(one))
    await commitOne(store, [keepPaired(left), keepPairing(null), ...(isBound ? [bind(null)] : [])])
    return { target: await notifier.target(), unpaired: paired.filter(isMeant) }
  },
})

export const noticesList = command({
  name: 'notices list',
  summary: 'what people were told, newest first, and what has become of it',
  runsIn: 'any_process',
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
