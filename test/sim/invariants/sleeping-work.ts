/**
 * No lost wake-up between processes: while a process with a free slot works, no dispatch stays pending for long; and a
 * run that was cancelled in another process ends.
 */

import type { SimProcess } from '../process.ts'
import type { World } from '../world.ts'
import type { DispatchRow } from './queue.ts'

/** More than the time between two looks for commits of others, and the longest sleep before a timer. */
const MOST_MS = 60_000

export class SleepingWork {
  readonly #world: World
  /** Since when a process could have started a dispatch, by the store's clock. */
  readonly #since = new Map<string, number>()

  constructor(world: World) {
    this.#world = world
  }

  /** Contract: called after every event. */
  check(): void {
    const { processes, wall } = this.#world
    const seen = new Set<string>()
    const note = (proc: SimProcess, what: string): void => {
      const key = `${proc.id} ${what}`
      seen.add(key)
      const since = Math.max(this.#since.get(key) ?? wall, proc.worksSince)
      this.#since.set(key, since)
      if (wall - since > MOST_MS)
        this.#world.fail('no lost wake-up', `${what} since ${since}, although process ${proc.id} works`)
    }
    for (const proc of processes) {
      if (!works(proc)) continue
      if (hasFreeSlot(this.#world, proc))
        for (const { dispatch_id } of this.#claimable(proc)) note(proc, `${dispatch_id} is pending`)
      for (const id of this.#cancelled(proc)) note(proc, `${id} is cancelled and runs`)
    }
    for (const key of this.#since.keys()) if (!seen.has(key)) this.#since.delete(key)
  }

  #cancelled({ epoch }: SimProcess): readonly string[] {
    const text = "SELECT dispatch_id FROM dispatches WHERE status = 'running' AND cancel = 'immediate' AND epoch = ?"
    return epoch === undefined
      ? []
      : this.#world.db
          .prepare(text)
          .all(epoch)
          .map((row) => String(row.dispatch_id))
  }

  #claimable(proc: SimProcess): readonly DispatchRow[] {
    const rows = [...this.#world.mirror.dispatches.values()]
    const inUse = new Set(rows.filter(({ status }) => status === 'running').map(({ workspace }) => workspace))
    return rows.filter(
      ({ dispatch_id, status, workspace }) =>
        status === 'pending' && !inUse.has(workspace) && !proc.held.has(dispatch_id),
    )
  }
}

const works = (proc: SimProcess): boolean =>
  proc.state === 'up' && !proc.cut && !proc.superseded && !proc.isStopping() && Number.isFinite(proc.worksSince)

function hasFreeSlot({ mirror, plan }: World, proc: SimProcess): boolean {
  const own = [...mirror.dispatches.values()].filter(
    ({ status, epoch }) => status === 'running' && epoch === proc.epoch,
  )
  return proc.isClaiming() && own.length < plan.maxConcurrent
}
