/**
 * Slot sharing: a run with many steps gives its slot to another dispatch that waits, and goes on after it (case 75).
 * Must not know: what a step does.
 * Invariants: a run is released only between steps, and only if a dispatch of at least its priority could run at once
 * in its slot; the list of those that gave way is kept in memory only, because its order is all it decides.
 */

import type { Dispatch } from '../../domain/dispatch.ts'
import type { Engine } from '../../engine/run.ts'
import { fallbackIfUnreadable } from '../../ports/store.ts'

/** A run keeps its slot for so many steps, and for so long. */
const SLOT_STEPS = 64
const SLOT_MS = 120_000
/** Maximum number of pending dispatches to look at. */
const MAX_LOOKED_AT = 200

export class SlotSharing {
  /** Dispatches that gave way, the first one first. */
  readonly #last: string[] = []
  readonly #engine: Engine
  readonly #isFull: () => boolean
  readonly #home: string | undefined

  /** `isFull`: whether every slot is taken. `home`: the id of this home on a shared store. */
  constructor(engine: Engine, isFull: () => boolean, home?: string) {
    this.#engine = engine
    this.#isFull = isFull
    this.#home = home
  }

  get last(): readonly string[] {
    return this.#last
  }

  onClaimed(dispatches: readonly Dispatch[]): void {
    for (const { dispatch_id } of dispatches) {
      const at = this.#last.indexOf(dispatch_id)
      if (at >= 0) this.#last.splice(at, 1)
    }
  }

  /** Contract: the function is to be called after each step of the claimed dispatch; true: it has to be released. */
  start(dispatch: Dispatch): () => Promise<boolean> {
    const { clock } = this.#engine
    let [steps, since] = [0, clock.monotonic()]
    return async () => {
      steps += 1
      if (steps < SLOT_STEPS && clock.monotonic() - since < SLOT_MS)
        return false
        // If no dispatch waits, it keeps the slot for as long again.
      ;[steps, since] = [0, clock.monotonic()]
      if (!this.#isFull() || !(await this.#isAwaited(dispatch))) return false
      this.#last.push(dispatch.dispatch_id)
      return true
    }
  }

  /** Whether a dispatch of at least this priority could run now, in a workspace that no other uses. */
  async #isAwaited({ priority }: Dispatch): Promise<boolean> {
    const { store } = this.#engine
    if ((await store.counts()).pending === 0) return false
    const [pending, running] = await Promise.all(
      (['pending', 'running'] as const).map((status) => store.dispatches({ status, limit: MAX_LOOKED_AT })),
    )
    const workspaceOf = async ({ session_id }: Dispatch): Promise<string | undefined> =>
      (await fallbackIfUnreadable(store.session(session_id), undefined))?.workspace
    const used = new Set(await Promise.all((running ?? []).map(workspaceOf)))
    const canRunHere = ({ home }: Dispatch): boolean => home === undefined || home === this.#home
    for (const other of (pending ?? []).filter(canRunHere))
      if (!other.paused && other.priority >= priority && !used.has(await workspaceOf(other))) return true
    return false
  }
}
