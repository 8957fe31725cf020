/**
 * The states of channel connections on a shared store, where the leader keeps the connections and all processes show
 * them.
 * Must not know: how a channel is reached.
 */

import type { Json } from '../../domain/json.ts'
import { commitOne, fallbackIfUnreadable, type Store } from '../../ports/store.ts'
import type { ConnectionState } from './connection.ts'

const SETTING = 'channel_states'

export type NamedStates = Readonly<Record<string, ConnectionState>>

/** Contract: a function that stores the states, one write at a time; the last states are stored in the end. */
export function createStateWriter(store: Store, states: () => NamedStates): () => void {
  let isWriting = false
  let isStale = false
  const write = async (): Promise<void> => {
    while (isStale) {
      isStale = false
      const value = { ...states() } as unknown as Json
      // The states are only shown; the next change is written again.
      await commitOne(store, [{ op: 'set', name: SETTING, value }]).catch(() => undefined)
    }
    isWriting = false
  }
  return () => {
    isStale = true
    if (isWriting) return
    isWriting = true
    void write()
  }
}

export async function readChannelStates(store: Store): Promise<NamedStates> {
  const value = await fallbackIfUnreadable(store.setting(SETTING), null)
  return typeof value === 'object' && value !== null ? (value as unknown as NamedStates) : {}
}
