/**
 * The lock of a workspace: calls that write to it, copies of it for sub-agents, and merges of their work into it happen
 * one after the other.
 * Must not know: who waits for the lock. Only this process uses a home, so the lock is in memory.
 */

import { workspaceKey } from '../domain/label.ts'
import type { Store } from '../ports/store.ts'

const locks = new WeakMap<Store, Map<string, Promise<unknown>>>()

/** Contract: returns what `work` returns, and throws what it throws. Not reentrant. */
export async function withWorkspaceLock<T>(store: Store, workspace: string, work: () => Promise<T>): Promise<T> {
  const held = locks.get(store) ?? new Map<string, Promise<unknown>>()
  locks.set(store, held)
  const key = workspaceKey(workspace)
  const mine = (held.get(key) ?? Promise.resolve()).then(work)
  const settled = mine.catch(() => {})
  held.set(key, settled)
  try {
    return await mine
  } finally {
    if (held.get(key) === settled) held.delete(key)
  }
}
