/** Waits for what happens to a dispatch, and makes it happen if no other process does. */

import type { DispatchStatus } from '../../domain/dispatch.ts'
import type { Needs } from './context.ts'

/**
 * Waits until the dispatch reaches a status. If no process drains the whole queue, it runs the dispatch itself; so it
 * does once with one that seems to run, because a process that was killed may have left it. A process that was started
 * to serve the page leaves it to others.
 */
export async function waitForStatus(
  context: Needs<'drain' | 'signals' | 'store' | 'wakeSignal'> & RunsHereNeeds,
  id: string,
  isReached: (status: DispatchStatus) => boolean,
): Promise<void> {
  for (let isLeft = true; ; ) {
    const since = context.wakeSignal.ringCount()
    const status = (await context.store.dispatch(id))?.status
    if (status === undefined || isReached(status) || context.signals.drain.aborted) return
    const isOurs = (status === 'pending' || isLeft) && (await runsHere(context))
    isLeft = false
    if (isOurs) await context.drain({ untilIdle: true, only: [id] })
    else await context.wakeSignal.wait(since, context.signals.drain)
  }
}

export type RunsHereNeeds = Needs<'draining' | 'isQueueWorked' | 'role'>

/** Contract: whether a command that waits for a dispatch runs it itself. */
export async function runsHere({ draining, isQueueWorked, role }: RunsHereNeeds): Promise<boolean> {
  if (draining()) return false
  return role() === null || !(await isQueueWorked())
}
