/**
 * What other processes on a shared store ask of the leader: to run a cycle, and to follow changed schedules.
 * Must not know: how a leader is chosen.
 */

import { CycleRequests } from './cycle/cycle-requests.ts'
import type { KernelLoop } from './loop.ts'
import { followChanges } from './queue/follow-changes.ts'
import type { KernelDeps } from './settings.ts'

/** Contract: until the result is called. Does nothing on the store of one home. */
export function followOthers(
  { store, clock, settings }: Pick<KernelDeps, 'store' | 'clock' | 'settings'>,
  loop: Pick<KernelLoop, 'requestCycle' | 'refresh'>,
): () => void {
  const requests = new CycleRequests({ store, clock, kernelId: settings().id }, () => loop.requestCycle())
  let known: string | undefined
  return followChanges(store, async () => {
    await requests.look()
    const schedules = JSON.stringify(await store.schedules())
    if (known !== undefined && known !== schedules) loop.refresh()
    known = schedules
  })
}
