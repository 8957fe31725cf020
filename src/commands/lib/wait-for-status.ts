/** Waits for what happens to a dispatch, and makes it happen if no other process does. */

import type { DispatchStatus } from '../../domain/dispatch.ts'
import type { Needs } from './context.ts'

/**
 * Waits until the dispatch reaches a status. If no process drains the whole queue, it runs the dispatch itself; so it
 * does once with one that seems to run, because a process that was killed may have left it.
 */
export async function waitForStatus(
  context: Needs<'drain' | 'draining' | 'signals' | 'store' | 'wakeSignal'>,
  id: string,
  isReached: (status: DispatchStatus) => boolean,
): Promise<void> {
  for (let isLeft = true; ; ) {
    const since = context.wakeSignal.ringCount()
    const status = (await context.store.dispatch(id))?.status
    if (status === undefined || isReached(status) || context.signals.drain.aborted) return
    const isOurs = (status === 'pending' || isLeft) && !context.draining()
    isLeft = false
    if (isOurs) await context.drain({ untilIdle: true, only: [id] })
    else await context.wakeSignal.wait(since, context.signals.drain)
  }
}
