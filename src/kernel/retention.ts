/**
 * Retention: deletes some old, finished sessions after each cycle, so that a home does not grow forever.
 * Must not know: when cycles run.
 */

import { commitOne, type Store } from '../ports/store.ts'

/** Sessions per commit; small commits do not delay other writers for long. */
const BATCH_SIZE = 10
/** A home whose only beat is daily must keep up with all that its day brought. */
const MAX_BATCHES = 200

/**
 * Contract: deletes finished sessions that are older than `before`; returns the runs that were deleted. Writes nothing
 * if there is nothing to delete.
 */
export async function pruneOldSessions(store: Store, before: number, signal: AbortSignal): Promise<readonly string[]> {
  const deleted: string[] = []
  for (let batch = 0; batch < MAX_BATCHES && !signal.aborted && (await store.prunable(before)); batch += 1) {
    const [{ runs }] = await commitOne(store, [{ op: 'prune', before, limit: BATCH_SIZE }])
    deleted.push(...runs)
  }
  return deleted
}
