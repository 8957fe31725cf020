/** How a process works the queue, if it is the only one of its home. */

import type { CommandContext } from '../../src/commands/lib/context.ts'
import type { Engine } from '../../src/engine/run.ts'
import { type DrainDeps, drain, joinHome, leaveHome } from '../../src/kernel/queue/drain.ts'
import { createHeldDispatches, type HeldDispatches } from '../../src/kernel/queue/held-dispatches.ts'
import { signalRun } from '../../src/kernel/queue/run-controls.ts'
import type { WakeSignal } from '../../src/kernel/queue/wake-signal.ts'
import { finishInterruptedUndos } from '../../src/kernel/undo/perform.ts'
import { ALONE, NO_DOCUMENTS } from './absent-services.ts'
import type { SimProcess } from './process.ts'
import { hasUndo } from './undo-plan.ts'
import type { World } from './world.ts'

/** What a process has of its queue: what commands see, and what the simulator needs beside. */
export interface ProcessQueue
  extends Pick<CommandContext, 'draining' | 'drain' | 'epoch' | 'isShared' | 'joinAs' | 'signals' | 'tellRun'>,
    Pick<CommandContext, 'whileLeading' | 'withoutClaims'> {
  readonly hold: HeldDispatches['hold']
  /** Tells whether it claims from the whole queue and was not told to stop. */
  isClaiming(): boolean
  leave(): Promise<void>
}

interface QueueParts {
  readonly engine: Engine
  readonly wakeSignal: WakeSignal
  readonly signals: CommandContext['signals']
}

export function createLoneQueue(world: World, proc: SimProcess, parts: QueueParts): ProcessQueue {
  const { engine, wakeSignal, signals } = parts
  const held = createHeldDispatches(wakeSignal)
  const controls: DrainDeps['controls'] = new Map()
  let joined: Promise<DrainDeps> | undefined
  let epoch: number | undefined
  let openDrains = 0
  let drainUntil: AbortSignal | undefined
  const join = async (): Promise<DrainDeps> => {
    epoch = (await joinHome(engine, `process ${proc.id}`)).epoch
    if (hasUndo(world.plan.seed)) await finishUndo(world, engine, held)
    return { engine, wakeSignal, epoch, maxConcurrent: world.plan.maxConcurrent, controls, held }
  }
  return {
    ...ALONE,
    signals,
    hold: held.hold,
    withoutClaims: held.alone,
    epoch: () => epoch,
    draining: () => openDrains > 0,
    isClaiming: () => openDrains > 0 && !proc.term.signal.aborted && !drainUntil?.aborted,
    tellRun: (id, what) => signalRun(controls, id, what),
    async drain(wanted) {
      joined ??= join()
      const share = wanted.only === undefined ? 1 : 0
      openDrains += share
      if (share > 0) drainUntil = wanted.until
      try {
        await drain(await joined, { ...wanted, signals })
      } finally {
        openDrains -= share
        wakeSignal.ring()
      }
    },
    async leave() {
      if (joined) await leaveHome(await joined)
    },
  }
}

async function finishUndo(world: World, engine: Engine, held: HeldDispatches): Promise<void> {
  const undone = await held.alone(() => finishInterruptedUndos({ ...engine, documents: NO_DOCUMENTS }))
  for (const { error } of undone) if (error === null) world.counters.add('undo finished by the next process')
}
