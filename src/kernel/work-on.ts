/**
 * Works on some dispatches and on nothing else, for whoever waits for them, beside whatever else is at work in this process.
 * Must not know: who asks, what they are for.
 */

import { isTerminal } from '../domain/dispatch.ts'
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../ports/store.ts'
import { readDispatches } from './cycle-end.ts'
import type { Doorbell } from './doorbell.ts'
import type { DrainOptions } from './drain.ts'

export interface Hands {
  readonly store: Store
  readonly clock: Clock
  readonly bell: Doorbell
  drain(wanted: Omit<DrainOptions, 'signals'>): Promise<void>
}

/** Until none of them is at work any more: some may have been claimed by somebody else of this process, some rest before another try. */
export async function workOn(
  { store, bell, clock, drain }: Hands,
  ids: readonly string[],
  until: AbortSignal,
): Promise<void> {
  while (!until.aborted) {
    await drain({ untilIdle: true, only: ids, until })
    // After it: a drain that ends rings, too.
    const since = bell.rung()
    const found = await readDispatches(store, ids)
    const rests = found.flatMap(({ wait }) => (wait?.kind === 'retry' ? [wait.until] : []))
    const busy = found.some(({ status }) => status !== 'waiting' && !isTerminal(status))
    if (!busy && rests.length === 0) return
    const over = new AbortController()
    const either = AbortSignal.any([over.signal, until])
    const rest = rests.length > 0 ? clock.sleep(Math.max(0, Math.min(...rests) - clock.now()), either) : undefined
    await Promise.race([bell.wait(since, either), ...(rest ? [rest] : [])])
    over.abort('over')
  }
}
