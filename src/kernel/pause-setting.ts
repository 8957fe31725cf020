/**
 * Whether the kernel is paused; a paused kernel skips its beats.
 * Must not know: who pauses and resumes.
 */

import { fallbackIfUnreadable, type Store } from '../ports/store.ts'

/** Key in the store's settings; its value is the time of the pause. */
export const PAUSED_SETTING = 'paused'

/** An unreadable setting counts as paused, because the owner may have stopped the kernel. */
export const isPaused = async (store: Pick<Store, 'setting'>): Promise<boolean> =>
  (await fallbackIfUnreadable(store.setting(PAUSED_SETTING), true)) !== null
