/** Beats: while a kernel runs, every schedule keeps its beats, however long the dispatches of a cycle last (I5). */

import { agentScheduleId, kernelScheduleId } from '../../../src/domain/schedule.ts'
import type { Batch, BatchOutcome } from '../../../src/ports/store.ts'
import type { SimProcess } from '../process.ts'
import type { World } from '../world.ts'

/**
 * A cycle takes some time, and the world sometimes skips ahead. Tolerated delay of a beat; simulated hangs last far
 * longer.
 */
const MOST_BEATS = 4
const MOST_MS = 240_000

export class BeatTiming {
  readonly #world: World
  /** The running kernels, and since when. */
  readonly #living = new Map<SimProcess, number>()
  /** When each schedule last had a beat, on time or made up for. */
  readonly #fired = new Map<string, number>()
  /** Delays before this time are excused: the clock was stepped, or the process was paused. */
  #excused = 0

  constructor(world: World) {
    this.#world = world
  }

  kernelStarted(proc: SimProcess): void {
    this.#living.set(proc, this.#world.wall)
  }

  kernelStopped(proc: SimProcess): void {
    this.#living.delete(proc)
  }

  excuseDelay(): void {
    this.#excused = this.#world.wall
  }

  /** Contract: called with every applied commit. */
  onCommit(batches: readonly Batch[], outcomes: readonly BatchOutcome[]): void {
    for (const [i, { ops }] of batches.entries())
      for (const op of ops) if (outcomes[i]?.ok && op.op === 'schedule_fired') this.#fired.set(op.id, this.#world.wall)
  }

  /** Contract: called after every event. */
  check(): void {
    const { plan, wall, faults } = this.#world
    if (!plan.kernel || plan.several || faults.ended) return
    for (const [proc, since] of this.#living) {
      if (proc.state !== 'up' || proc.term.signal.aborted || proc.superseded || Number.isFinite(proc.diskFailedAt))
        continue
      for (const [id, every] of schedulesOf(plan.kernel)) {
        const from = Math.max(since, this.#excused, this.#fired.get(id) ?? 0)
        if (wall - from > MOST_BEATS * every + MOST_MS)
          this.#world.fail(
            'I5',
            `process ${proc.id}: ${id} is due every ${every} ms, and had no beat for ${wall - from} ms`,
          )
      }
    }
  }
}

function schedulesOf({ every, agents }: NonNullable<World['plan']['kernel']>): readonly (readonly [string, number])[] {
  const own = agents.flatMap(({ agent_id, schedule }) =>
    schedule === null ? [] : [[agentScheduleId(agent_id), schedule] as const],
  )
  return [[kernelScheduleId('sim'), every], ...own]
}
