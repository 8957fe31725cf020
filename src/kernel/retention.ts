/**
 * Retention: what is old and over goes, a little after each cycle, so that a home that is used for years stays what it is.
 * Must not know: when cycles come.
 */

import { commitOne, type Store } from '../ports/store.ts'

/** Small commits: whoever works meanwhile waits for none of them long. */
const AT_ONCE = 10
const MOST_ROUNDS = 20

/** Contract: the runs that are gone. Writes nothing where there is nothing to do. */
export async function prune(store: Store, before: number, signal: AbortSignal): Promise<readonly string[]> {
  const gone: string[] = []
  for (let round = 0; round < MOST_ROUNDS && !signal.aborted && (await store.prunable(before)); round += 1) {
    const [{ runs }] = await commitOne(store, [{ op: 'prune', before, limit: AT_ONCE }])
    gone.push(...runs)
  }
  return gone
}
