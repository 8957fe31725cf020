/** The processes that work on the store. */

import { z } from 'zod'
import { PROCESS_ROLES } from '../../domain/process-role.ts'
import { fallbackIfUnreadable } from '../../ports/store.ts'
import type { Needs } from './context.ts'

/** Number of running dispatches that are counted per worker. */
const MAX_RUNS_COUNTED = 1000
/** A lease is renewed when two thirds of it are left. */
const LATE_BELOW = 0.5

export const workerSchema = z.object({
  epoch: z.number(),
  name: z.string(),
  since: z.string().describe('when it joined'),
  lease_until: z.string().describe('another worker takes its work over afterwards'),
  late: z.boolean().describe('it has not renewed its lease in time: it hangs, or cannot reach the database'),
  role: z.enum(PROCESS_ROLES).nullable().describe('null: the store belongs to one home'),
  host: z.string().nullable(),
  version: z.string().nullable(),
  running: z.number().describe('dispatches that it runs now'),
  slots: z.number().nullable().describe('how many it runs at most'),
  leads: z.boolean().describe('whether it follows the schedules'),
  here: z.boolean().describe('whether it is the process that answers'),
})

type Worker = z.input<typeof workerSchema>

/** The workers with a valid lease, and the worker of this process, which alone on a store has no lease while idle. */
export async function workersOf(context: Needs<'store' | 'clock' | 'epoch' | 'kernelId'>): Promise<Worker[]> {
  const { store, clock, epoch: ownEpoch, kernelId } = context
  const now = clock.now()
  const leader = await fallbackIfUnreadable(store.leader(kernelId), undefined)
  const running = await store.dispatches({ status: 'running', limit: MAX_RUNS_COUNTED })
  return (await store.workers(0)).flatMap(({ epoch, name, joined_at, lease_until, lease_left_ms, about }) => {
    const here = epoch === ownEpoch()
    if (about === null && !here && Date.parse(lease_until) <= now) return []
    const { role = null, host = null, version = null, slots = null, lease_ms = 0 } = about ?? {}
    return {
      ...{ epoch, name, since: joined_at, lease_until, late: lease_left_ms < lease_ms * LATE_BELOW },
      ...{ role, host, version, slots, here, leads: about === null || epoch === leader?.epoch },
      running: running.filter(({ lease_owner }) => lease_owner === epoch).length,
    }
  })
}

/** Contract: on a shared store, whether a process with a valid lease leads the kernel. */
export async function hasLeader({ store, clock, kernelId }: Needs<'store' | 'clock' | 'kernelId'>): Promise<boolean> {
  const leader = await fallbackIfUnreadable(store.leader(kernelId), undefined)
  return leader !== undefined && (await store.workers(clock.now())).some(({ epoch }) => epoch === leader.epoch)
}
