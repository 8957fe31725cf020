/** Channels: list, test, pair and unpair them, and list the messages of the outbox. */

import { z } from 'zod'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import { MESSAGE_KINDS, OUTBOX_STATUSES } from '../domain/message.ts'
import { setNoticeTarget } from '../kernel/notify/notice-target.ts'
import {
  beginPairing,
  derivePairingCode,
  isSameChat,
  PAIRED_SETTING,
  readPairedChats,
  storePairedChats,
  storePairing,
} from '../kernel/notify/pairing.ts'
import { tryDelivery } from '../kernel/notify/try-delivery.ts'
import type { Channel } from '../ports/channel.ts'
import { iso } from '../ports/clock.ts'
import { commitOne, type Op } from '../ports/store.ts'
import { connectionStates } from './lib/channel-states.ts'
import { defineCommand } from './lib/command.ts'
import type { CommandContext, Needs } from './lib/context.ts'
import { connectionSchema } from './lib/output-schemas.ts'
import { probeChannel } from './lib/probe-channel.ts'

const targetShape = z.object({
  channel: z.string(),
  chat_id: z.string().nullable(),
  by: z.enum(['config', 'person']),
})

const pairedShape = z.object({ channel: z.string(), chat_id: z.string().nullable(), paired_at: z.string() })

const NO_DELIVERIES = { pending: 0, failed: 0, last_sent_at: null, last_error: null }

export const channelsList = defineCommand({
  name: 'channels list',
  summary: 'list channels with their problems and deliveries, and the target of notices',
  example: 'channels list',
  runsIn: 'any_process',
  needs: ['channels', 'clock', 'configInUse', 'connections', 'kernel', 'kernelId', 'notifier', 'store'],
  input: z.object({}),
  output: z.object({
    items: z.array(
      z.object({
        name: z.string(),
        trouble: z.string().nullable(),
        configured: z.boolean().describe('whether it is set up in the configuration'),
        receives: z.boolean(),
        connection: connectionSchema
          .nullable()
          .describe('the long connection by which messages arrive; null: the channel makes none'),
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
      .describe('paired chats, which may give commands; chats in the configuration are not listed'),
  }),
  async run(context) {
    const { channels, configInUse, notifier, store } = context
    const stateOf = await connectionStates(context)
    const keys = configInUse().map(({ key }) => key)
    const target = await notifier.target()
    const deliveries = await store.deliveries()
    // Also lists channels that have messages but do not exist, because the owner has to notice those.
    const names = new Set(
      [...channels.keys(), ...deliveries.map(({ channel }) => channel), target?.channel ?? []].flat(),
    )
    const items = [...names].map((name) => {
      const { channel: _, ...sent } = deliveries.find(({ channel }) => channel === name) ?? {
        channel: name,
        ...NO_DELIVERIES,
      }
      const channel = channels.get(name)
      return {
        name,
        trouble: channelProblem(channels, name),
        configured: keys.some((key) => key.startsWith(`channels.${name}.`)),
        receives: channel?.receive !== undefined || channel?.connect !== undefined,
        connection: stateOf(name),
        bound: target?.channel === name,
        ...sent,
      }
    })
    const paired = readPairedChats(await store.setting(PAIRED_SETTING)).map((chat) => ({ ...chat }))
    return { items, target, paired }
  },
})

export const channelsTest = defineCommand({
  name: 'channels test',
  summary: 'send a test message through a channel now',
  example: 'channels test webhook',
  runsIn: 'any_process',
  needs: ['channels', 'clock', 'ids', 'kernelId', 'notifier'],
  input: z.object({
    name: z.string().describe('name of the channel'),
    chat: z.string().optional().describe('chat to send to; default: the channel’s own target'),
  }),
  positional: ['name'],
  output: z.object({ channel: z.string(), delivered: z.boolean(), error: z.string().nullable() }),
  async run(context, { name, chat }) {
    findChannel(context, name)
    const { clock, ids, kernelId, notifier } = context
    const target = await notifier.target()
    const message = {
      id: `test-${ids.next()}`,
      chat_id: chat ?? (target?.channel === name ? target.chat_id : null),
      kind: 'reply' as const,
      text: TEST_TEXTS[notifier.language()](kernelId),
      ts: iso(clock.now()),
    }
    const error = (await probeProblem(context, name)) ?? (await tryDelivery(context, name, message)).error
    return { channel: name, delivered: error === null, error: error?.message ?? null }
  },
  exitCode: ({ delivered }) => (delivered ? 0 : 1),
})

/** Wrong keys are explained before anything is sent. */
const probeProblem = (context: Needs<'channels' | 'clock'>, name: string): Promise<TirelessError | null> =>
  probeChannel(context, name).then(
    () => null,
    (thrown) => asTirelessError(thrown, 'channel_unavailable'),
  )

const TEST_TEXTS = {
  en: (kernel: string) => `Kernel[${kernel}]: test message. If you can read this, the channel works.`,
  zh: (kernel: string) => `Kernel[${kernel}]：测试消息。能看到这条消息，说明通道可用。`,
}

export const channelsPair = defineCommand({
  name: 'channels pair',
  summary: 'send notices to a channel, and get a code that pairs one of its chats with you',
  example: 'channels pair webhook',
  runsIn: 'any_process',
  needs: ['channels', 'clock', 'ids', 'notifier', 'store'],
  input: z.object({
    name: z.string().describe('name of the channel'),
    chat: z.string().optional().describe('pair this chat at once; default: the chat that sends the code'),
  }),
  positional: ['name'],
  output: z.object({
    target: targetShape.nullable(),
    code: z
      .string()
      .nullable()
      .describe('send it to the chat as /pair CODE; valid once, for ten minutes and five tries'),
    expires_at: z.string().nullable(),
  }),
  async run(context, { name, chat }, tell) {
    const { store, clock, ids, notifier } = context
    const channel = findChannel(context, name)
    const trouble = channel.trouble()
    if (trouble !== null) tell({ kind: 'note', text: `${name} cannot deliver yet: ${trouble}` })
    const now = clock.now()
    const binding = setNoticeTarget({ channel: name, chat_id: chat ?? null })
    if (chat !== undefined || !(channel.receive || channel.connect)) {
      await commitOne(store, [binding, ...(chat === undefined ? [] : [await pairOp(store, name, chat, iso(now))])])
      return { target: await notifier.target(), code: null, expires_at: null }
    }
    const code = derivePairingCode(`${ids.next()}${ids.next()}`)
    const pairing = beginPairing(name, code, now)
    // Without a chat of its own, the channel has nowhere to send notices before a chat has sent the code.
    const isReachable = (channel.ownChat?.() ?? null) !== null
    await commitOne(store, [...(isReachable ? [binding] : []), storePairing(pairing)])
    return { target: await notifier.target(), code, expires_at: iso(pairing.until) }
  },
})

/** Pairs a chat without a code, because the owner named the chat on the command line. */
async function pairOp(
  store: CommandContext['store'],
  channel: string,
  chat_id: string,
  paired_at: string,
): Promise<Op> {
  const chat = { channel, chat_id, paired_at }
  return storePairedChats([
    ...readPairedChats(await store.setting(PAIRED_SETTING)).filter((paired) => !isSameChat(paired, chat)),
    chat,
  ])
}

export const channelsUnpair = defineCommand({
  name: 'channels unpair',
  summary: 'unpair the chats of a channel; without a name, send notices to the configured target again',
  example: 'channels unpair webhook',
  runsIn: 'any_process',
  needs: ['notifier', 'store'],
  input: z.object({
    name: z.string().optional().describe('name of the channel'),
    chat: z.string().optional().describe('only this chat of the channel'),
  }),
  positional: ['name'],
  output: z.object({ target: targetShape.nullable(), unpaired: z.array(pairedShape) }),
  async run({ store, notifier }, { name, chat }) {
    const paired = readPairedChats(await store.setting(PAIRED_SETTING)).map((one) => ({ ...one }))
    const isSelected = (one: { channel: string; chat_id: string | null }): boolean =>
      one.channel === name && (chat === undefined || one.chat_id === chat)
    const target = (await notifier.unpairedTarget()) ?? (await notifier.target())
    const isBound = name === undefined || (target?.by === 'person' && isSelected(target))
    const left = paired.filter((one) => !isSelected(one))
    await commitOne(store, [storePairedChats(left), storePairing(null), ...(isBound ? [setNoticeTarget(null)] : [])])
    return { target: await notifier.target(), unpaired: paired.filter(isSelected) }
  },
})

export const noticesList = defineCommand({
  name: 'notices list',
  summary: 'list messages sent to people, newest first, with their delivery status',
  example: 'notices list --status failed',
  runsIn: 'any_process',
  needs: ['store'],
  input: z.object({
    status: z.enum(OUTBOX_STATUSES).optional().describe('only with this status'),
    channel: z.string().optional().describe('only through this channel'),
    limit: z.int().positive().default(20).describe('maximum number of messages'),
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
        status: z.enum(OUTBOX_STATUSES),
        attempts: z.number(),
        due: z.string(),
        sent_at: z.string().nullable(),
        error: z.string().nullable(),
        parts_sent: z.number(),
        revision: z.number(),
        provider_id: z.string().nullable(),
      }),
    ),
  }),
  async run({ store }, filter) {
    return { items: [...(await store.outbox(filter))] }
  },
})

/** Contract: the reason why the channel cannot deliver messages; null if it can. */
export const channelProblem = (channels: CommandContext['channels'], name: string): string | null =>
  channels.has(name) ? (channels.get(name)?.trouble() ?? null) : 'no such channel'

function findChannel({ channels }: Needs<'channels'>, name: string): Channel {
  const channel = channels.get(name)
  if (channel) return channel
  const expected = [...channels.keys()].join(', ')
  throw new TirelessError('not_found', { what: 'no such channel', got: name, expected })
}
