/**
 * Runs selected dispatches and nothing else, for a caller that waits for them, next to other work of this process.
 * Must not know: what the dispatches are for.
 */

import { isTerminal } from '../../domain/dispatch.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import { readDispatches } from '../cycle/cycle-end.ts'
import type { DrainOptions } from './drain.ts'
import type { WakeSignal } from './wake-signal.ts'

export interface DrainAccess {
  readonly store: Store
  readonly clock: Clock
  readonly wakeSignal: WakeSignal
  drain(wanted: Omit<DrainOptions, 'signals'>): Promise<void>
}

/**
 * Drains repeatedly, because another drain of this process may have claimed some of the dispatches, and some may wait
 * for a retry.
 */
export async function runOnly(
  { store, wakeSignal, clock, drain }: DrainAccess,
  ids: readonly string[],
  until: AbortSignal,
): Promise<void> {
  while (!until.aborted) {
    await drain({ untilIdle: true, only: ids, until })
    // The rings are counted after the drain, because a drain that ends also rings.
    const since = wakeSignal.ringCount()
    const found = await readDispatches(store, ids)
    const retryTimes = found.flatMap(({ wait }) => (wait?.kind === 'retry' ? [wait.until] : []))
    const isBusy = found.some(({ status }) => status !== 'waiting' && !isTerminal(status))
    if (!isBusy && retryTimes.length === 0) return
    const finished = new AbortController()
    const either = AbortSignal.any([finished.signal, until])
    const retry =
      retryTimes.length > 0 ? clock.sleep(Math.max(0, Math.min(...retryTimes) - clock.now()), either) : undefined
    await Promise.race([wakeSignal.wait(since, either), ...(retry ? [retry] : [])])
    finished.abort('over')
  }
}
