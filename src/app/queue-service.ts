/** Draining the queue: joins the home as a worker with the first drain, and leaves it at the end. */

import type { Signals } from '../engine/advance.ts'
import type { Engine } from '../engine/run.ts'
import type { Doorbell } from '../kernel/doorbell.ts'
import { drain, joinHome, type Kernel, leaveHome, type Reins, tellRein } from '../kernel/drain.ts'
import { createHeldDispatches } from '../kernel/held.ts'
import type { Clock } from '../ports/clock.ts'
import type { Services } from '../ports/plugin.ts'

interface Stoppable {
  readonly signals: Signals
  stop(withinMs: number): void
  over(): void
}

/** Signals from outside, and a way to be asked from inside: steps end by themselves first, and are interrupted at the deadline. */
export function stoppable(given: Signals, clock: Clock): Stoppable {
  const [drain, abort, over] = [new AbortController(), new AbortController(), new AbortController()]
  const signals = {
    drain: AbortSignal.any([given.drain, drain.signal]),
    abort: AbortSignal.any([given.abort, abort.signal]),
  }
  return {
    signals,
    stop(withinMs) {
      drain.abort()
      if (withinMs === 0) abort.abort()
      else void clock.sleep(withinMs, over.signal).then(() => over.signal.aborted || abort.abort())
    },
    // Nothing is left to be interrupted; the timer must not keep the process.
    over: () => over.abort(),
  }
}

/** Draining, and the worker's epoch, which begins with the first drain: looking at a home changes nothing in it. */
export function createQueueService(
  engine: Engine,
  bell: Doorbell,
  log: Services['log'],
  maxConcurrent: () => number,
  { signals, stop, over }: Stoppable,
  /** What has to be done before any work begins. */
  ready: () => Promise<unknown>,
): Services['queue'] & { leave(): Promise<void> } {
  let kernel: Promise<Kernel> | undefined
  let whole = 0
  let damage: readonly string[] = []
  let own: number | undefined
  const reins: Reins = new Map()
  const held = createHeldDispatches(bell)
  const joined = async (): Promise<Kernel> => {
    const [{ epoch, lost }] = await Promise.all([joinHome(engine, `process ${process.pid}`), ready()])
    own = epoch
    log.write(lost > 0 ? 'warn' : 'info', 'worker joined', { epoch, pid: process.pid, lost })
    // After an unclean stop, in the background: nothing waits for it.
    if (lost > 0)
      void engine.store.verify().then(
        (found) => {
          damage = found
          for (const message of found) log.write('error', 'database damaged', { message })
        },
        () => {},
      )
    return {
      ...{ engine, bell, epoch, reins, held },
      // As it is now: the configuration may change.
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
    draining: () => whole > 0,
    epoch: () => own,
    tellRun: (dispatchId, what) => tellRein(reins, dispatchId, what),
    hold: held.hold,
    async drain(wanted) {
      kernel ??= joined()
      const share = wanted.only === undefined ? 1 : 0
      whole += share
      try {
        await drain(await kernel, { ...wanted, signals })
      } finally {
        whole -= share
        // Whoever left its work to this drain has to look again.
        bell.ring()
      }
    },
    async leave() {
      over()
      if (kernel) await leaveHome(await kernel)
    },
  }
}
