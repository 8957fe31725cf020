/** Works the queue: joins the home as a worker on the first drain, and leaves it on close. */

import type { Engine } from '../engine/run.ts'
import { tellUnstarted } from '../kernel/conversation/tell-unstarted.ts'
import { type DrainDeps, drain, joinHome, leaveHome, type RunControls, signalRun } from '../kernel/queue/drain.ts'
import { createHeldDispatches, type HeldDispatches } from '../kernel/queue/held-dispatches.ts'
import type { WakeSignal } from '../kernel/queue/wake-signal.ts'
import type { Services } from '../ports/plugin.ts'
import type { StopControl } from './stop-control.ts'

interface QueueParts {
  readonly engine: Engine
  readonly bell: WakeSignal
  readonly log: Services['log']
  readonly stopControl: StopControl
  maxConcurrent(): number
  /** Awaited before any work starts. `withoutClaims`: for work that an undo must not do at the same time. */
  ready(withoutClaims: HeldDispatches['alone']): Promise<unknown>
}

export function createQueueService(parts: QueueParts): Services['queue'] & { leave(): Promise<void> } {
  const { bell, log, stopControl } = parts
  const { signals } = stopControl
  const worker = new HomeWorker(parts)
  let fullDrains = 0
  return {
    signals,
    stop(withinMs) {
      log.write('info', 'asked to stop', { within_ms: withinMs })
      stopControl.stop(withinMs)
    },
    damage: () => worker.damage,
    draining: () => fullDrains > 0,
    epoch: () => worker.epoch,
    tellRun: (dispatchId, what) => signalRun(worker.controls, dispatchId, what),
    hold: worker.held.hold,
    withoutClaims: worker.held.alone,
    async drain(wanted) {
      const joined = worker.join()
      const increment = wanted.only === undefined ? 1 : 0
      fullDrains += increment
      try {
        await drain(await joined, { ...wanted, signals })
      } finally {
        fullDrains -= increment
        // Callers that waited for this drain to do their work must look at the queue again.
        bell.ring()
      }
    },
    async leave() {
      stopControl.over()
      await worker.leave()
    },
  }
}

/** This process as a worker of the home. It joins at the first drain, so that reading a home changes nothing in it. */
class HomeWorker {
  readonly #parts: QueueParts
  #joined: Promise<DrainDeps> | undefined
  readonly controls: RunControls = new Map()
  readonly held: HeldDispatches
  /** What is wrong with the database, if it had to be verified. */
  damage: readonly string[] = []
  epoch: number | undefined

  constructor(parts: QueueParts) {
    this.#parts = parts
    this.held = createHeldDispatches(parts.bell)
  }

  join(): Promise<DrainDeps> {
    this.#joined ??= this.#join()
    return this.#joined
  }

  async leave(): Promise<void> {
    if (this.#joined) await leaveHome(await this.#joined)
  }

  async #join(): Promise<DrainDeps> {
    const { engine, bell, log, ready, maxConcurrent } = this.#parts
    const joining = joinHome(engine, `process ${process.pid}`)
    const [{ epoch, lost, dead }] = await Promise.all([joining, ready(this.held.alone)])
    this.epoch = epoch
    log.write(lost > 0 ? 'warn' : 'info', 'worker joined', { epoch, pid: process.pid, lost })
    for (const id of dead) await tellUnstarted(engine, id)
    // The last process did not stop cleanly.
    if (lost > 0) void this.#verifyDatabase()
    return {
      ...{ engine, wakeSignal: bell, epoch, controls: this.controls, held: this.held },
      // A getter, because the configuration may change.
      get maxConcurrent() {
        return maxConcurrent()
      },
    }
  }

  /** Contract: runs in the background; never rejects. */
  async #verifyDatabase(): Promise<void> {
    const { engine, log } = this.#parts
    this.damage = await engine.store.verify().catch(() => [])
    for (const message of this.damage) log.write('error', 'database damaged', { message })
  }
}
