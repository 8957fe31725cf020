/** How a process works the queue beside others on a shared store: the program's own service, with a home of its own. */

import { createQueueService } from '../../src/app/queue-service.ts'
import { createStopControl } from '../../src/app/stop-control.ts'
import type { Engine } from '../../src/engine/run.ts'
import type { Leadership } from '../../src/kernel/queue/leadership.ts'
import type { WakeSignal } from '../../src/kernel/queue/wake-signal.ts'
import type { Documents } from '../../src/ports/documents.ts'
import type { SimHome } from './homes.ts'
import type { ProcessQueue } from './lone-queue.ts'
import type { SimProcess } from './process.ts'
import type { World } from './world.ts'

interface SharedQueueParts {
  readonly home: SimHome
  readonly engine: Engine
  readonly wakeSignal: WakeSignal
  readonly leadership: Leadership
  readonly documents: Pick<Documents, 'catchUp'>
}

export interface SharedProcessQueue extends ProcessQueue {
  requireLead(): Promise<void>
}

export function createSharedQueue(world: World, proc: SimProcess, parts: SharedQueueParts): SharedProcessQueue {
  const { home, engine, wakeSignal: bell, leadership, documents } = parts
  const stopControl = createStopControl(engine.clock, { drain: proc.term.signal, abort: proc.abort.signal })
  const service = createQueueService({
    ...{ engine, bell, leadership, stopControl },
    log: { write: (_, event) => world.logEvent(`${proc.id} ${event}`) },
    homeId: () => `home${home.n}`,
    // One store of one home: all see the same folders, and commands are simulated, too.
    ...{ homeRoot: () => undefined, watchdog: { allow: () => {}, leave: () => {} } },
    version: () => 'sim',
    leaseMs: () => world.plan.several?.lease ?? 0,
    maxConcurrent: () => world.plan.maxConcurrent,
    ready: () => documents.catchUp(),
  })
  let drainUntil: AbortSignal | undefined
  return {
    ...service,
    hold(ids) {
      for (const id of ids) proc.held.add(id)
      const release = service.hold(ids)
      return () => {
        for (const id of ids) proc.held.delete(id)
        release()
      }
    },
    drain(wanted) {
      if (wanted.only === undefined) drainUntil = wanted.until
      return service.drain(wanted)
    },
    isClaiming: () => service.draining() && !proc.term.signal.aborted && !drainUntil?.aborted,
  }
}
