/**
 * Owner's chat: whether a chat belongs to the owner, because the configuration names it or because it is paired.
 * Must not know: what is said in the chat, what is sent to it.
 * Invariant: a chat that is neither configured nor paired is never the owner's, even if an older version, which had no
 * pairing, sent notices there.
 */

import type { Channel } from '../../ports/channel.ts'
import { fallbackIfUnreadable, type Store } from '../../ports/store.ts'
import type { KernelSettings } from '../settings.ts'
import { isSameChat, PAIRED_SETTING, type PairedChat, readPairedChats } from './pairing.ts'

interface OwnersChatSources {
  readonly store: Pick<Store, 'setting'>
  readonly channels: ReadonlyMap<string, Channel>
  settings(): Pick<KernelSettings, 'channel' | 'chat_id'>
}

export async function isOwnersChat(
  { store, settings, channels }: OwnersChatSources,
  chat: Pick<PairedChat, 'channel' | 'chat_id'>,
): Promise<boolean> {
  const { channel, chat_id } = chat
  const { channel: configured, chat_id: at } = settings()
  const isConfigured = channels.get(channel)?.ownChat?.() === chat_id || (configured === channel && at === chat_id)
  if (chat_id !== null && isConfigured) return true
  return readPairedChats(await fallbackIfUnreadable(store.setting(PAIRED_SETTING), null)).some((paired) =>
    isSameChat(paired, chat),
  )
}
