/** Works the queue: joins the home as a worker on the first drain, and leaves it on close. */

import type { Engine } from '../engine/run.ts'
import { type DrainDeps, drain, joinHome, leaveHome, type RunControls, signalRun } from '../kernel/queue/drain.ts'
import { createHeldDispatches } from '../kernel/queue/held-dispatches.ts'
import type { WakeSignal } from '../kernel/queue/wake-signal.ts'
import type { Services } from '../ports/plugin.ts'
import type { StopControl } from './stop-control.ts'

/** The worker's epoch starts with the first drain, so that reading a home changes nothing in it. */
export function createQueueService(
  engine: Engine,
  bell: WakeSignal,
  log: Services['log'],
  maxConcurrent: () => number,
  { signals, stop, over }: StopControl,
  /** Awaited before any work starts. */
  ready: () => Promise<unknown>,
): Services['queue'] & { leave(): Promise<void> } {
  let kernel: Promise<DrainDeps> | undefined
  let fullDrains = 0
  let damage: readonly string[] = []
  let ownEpoch: number | undefined
  const reins: RunControls = new Map()
  const held = createHeldDispatches(bell)
  const join = async (): Promise<DrainDeps> => {
    const [{ epoch, lost }] = await Promise.all([joinHome(engine, `process ${process.pid}`), ready()])
    ownEpoch = epoch
    log.write(lost > 0 ? 'warn' : 'info', 'worker joined', { epoch, pid: process.pid, lost })
    // The last process did not stop cleanly, so the database is verified in the background.
    if (lost > 0)
      void engine.store.verify().then(
        (found) => {
          damage = found
          for (const message of found) log.write('error', 'database damaged', { message })
        },
        () => {},
      )
    return {
      ...{ engine, wakeSignal: bell, epoch, controls: reins, held },
      // A getter, because the configuration may change.
      get maxConcurrent() {
        return maxConcurrent()
      },
    }
  }
  return {
    signals,
    stop(withinMs) {
      log.write('info', 'asked to stop', { within_ms: withinMs })
      stop(withinMs)
    },
    damage: () => damage,
    draining: () => fullDrains > 0,
    epoch: () => ownEpoch,
    tellRun: (dispatchId, what) => signalRun(reins, dispatchId, what),
    hold: held.hold,
    async drain(wanted) {
      kernel ??= join()
      const increment = wanted.only === undefined ? 1 : 0
      fullDrains += increment
      try {
        await drain(await kernel, { ...wanted, signals })
      } finally {
        fullDrains -= increment
        // Callers that waited for this drain to do their work must look at the queue again.
        bell.ring()
      }
    },
    async leave() {
      over()
      if (kernel) await leaveHome(await kernel)
    },
  }
}
