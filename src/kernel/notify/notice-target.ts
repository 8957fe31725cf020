/**
 * The target of notices: the chat or channel that a person has chosen; without a choice the configured one, or none.
 * Must not know: the text of notices.
 */

import { TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import type { Channel } from '../../ports/channel.ts'
import type { Op } from '../../ports/store.ts'
import type { KernelSettings } from '../settings.ts'

export interface NoticeTarget {
  readonly channel: string
  readonly chat_id: string | null
  /** Who chose the target: the configuration, or later a person. */
  readonly by: 'config' | 'person'
}

/** Channels that reach only the person at this machine, who is the owner. */
const OWN_MACHINE: readonly string[] = ['console', 'desktop']

/** Contract: pure; whether this target reaches the owner and no other person. */
export function isOwnerTarget({ channel, chat_id }: Pick<KernelSettings, 'channel' | 'chat_id'>, to: string): boolean {
  return OWN_MACHINE.includes(to) || (channel !== null && to === (chat_id === null ? channel : `${channel}:${chat_id}`))
}

/** Key of the person's choice in the store's settings. */
export const NOTICE_SETTING = 'notice'

/** Contract: pure; the target, or null for no notices. `bound`: the stored choice of a person; null: none. */
export function resolveNoticeTarget(
  { channel, chat_id }: Pick<KernelSettings, 'channel' | 'chat_id'>,
  bound: Json,
): NoticeTarget | null {
  if (isBound(bound)) return bound.channel === null ? null : { ...bound, channel: bound.channel, by: 'person' }
  return channel === null ? null : { channel, chat_id, by: 'config' }
}

/** The store operation that sets the target; `off`: no notices; null: the configured target again. */
export function setNoticeTarget(
  to: Pick<NoticeTarget, 'channel' | 'chat_id'> | 'off' | null,
): Extract<Op, { op: 'set' }> {
  const value = to === 'off' ? { channel: null, chat_id: null } : to && { channel: to.channel, chat_id: to.chat_id }
  return { op: 'set', name: NOTICE_SETTING, value }
}

export function pairCommand(channel: string, chat_id: string | null): string {
  if (chat_id === null) return `tireless channels pair ${channel}`
  const isPlain = /^[\w.@:+=][\w.@:+=-]*$/.test(chat_id)
  return `tireless channels pair ${channel} --chat ${isPlain ? chat_id : `'${chat_id.replaceAll("'", "'\\''")}'`}`
}

/** Contract: two lines for the owner: why a chat gets no notices (`found`), and what to do (`remedy`). */
export const unpairedNote = ({
  channel,
  chat_id,
}: NoticeTarget): { readonly found: string; readonly remedy: string } => ({
  found: `notices do not go to the chat ${chat_id} of ${channel}: it is not paired, so it may be a stranger's`,
  remedy: `if it is yours: ${pairCommand(channel, chat_id)}; if not: tireless channels unpair`,
})

interface KernelChatSources {
  settings(): Pick<KernelSettings, 'channel' | 'chat_id'>
  noticeTarget(): Promise<Pick<NoticeTarget, 'channel' | 'chat_id'> | null>
}

/** The part of the metadata by which the model of a run is selected: the chat in which people follow the kernel. */
export async function chatOfKernel({
  settings,
  noticeTarget,
}: KernelChatSources): Promise<Readonly<Record<string, string>>> {
  const { channel, chat_id } = (await noticeTarget()) ?? settings()
  return { ...(channel === null ? {} : { channel }), ...(chat_id === null ? {} : { chat_id }) }
}

/**
 * Contract: pure; whether a person has chosen where notices go, or to get none. `ownChat` null: the channel alone, as
 * earlier versions chose it, leads nowhere.
 */
export const isPersonsChoice = (bound: Json, { channel, ownChat }: { channel: string; ownChat: string | null }) =>
  isBound(bound) && !(bound.channel === channel && bound.chat_id === null && ownChat === null)

function isBound(bound: Json): bound is { channel: string | null; chat_id: string | null } {
  return typeof bound === 'object' && bound !== null && 'channel' in bound && 'chat_id' in bound
}

/** Contract: the channel and chat that `to` names, as CHANNEL or CHANNEL:CHAT; throws `not_found` if none is usable. */
export function findNamedTarget(
  channels: ReadonlyMap<string, Channel>,
  to: string,
): Pick<NoticeTarget, 'channel' | 'chat_id'> {
  const [, channel = '', chat_id = null] = /^([^:]+)(?::(.+))?$/s.exec(to) ?? []
  if (channels.get(channel)?.trouble() === null) return { channel, chat_id }
  const why = channels.has(channel)
    ? `${channel} cannot deliver: ${channels.get(channel)?.trouble()}`
    : 'unknown channel'
  const usable = [...channels.values()].filter((one) => one.trouble() === null).map(({ name }) => name)
  throw new TirelessError('not_found', {
    what: why,
    got: to,
    expected: `one of ${usable.join(', ')}, or leave out "to" to reach your owner`,
  })
}
