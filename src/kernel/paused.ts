/**
 * Whether the kernel lets its beats pass.
 * Must not know: who asks.
 */

import { type Store, unlessUnreadable } from '../ports/store.ts'

/** The name of the store's setting: since when. */
export const PAUSED = 'paused'

/** A setting that cannot be read counts: nothing is begun that its owner may have stopped. */
export const isPaused = async (store: Pick<Store, 'setting'>): Promise<boolean> =>
  (await unlessUnreadable(store.setting(PAUSED), true)) !== null
