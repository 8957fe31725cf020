/**
 * Drain: claims pending work and advances it, so many at a time, until there is none left or it is told to stop.
 * Must not know: what a step does. One hung or fenced run never stops the others (I5).
 * Invariants: I1 (only claimed dispatches run); every wait here also ends by the doorbell, so no wake-up is lost.
 */

import type { Cancel, Dispatch } from '../domain/dispatch.ts'
import { asTirelessError, type TirelessError } from '../domain/error.ts'
import { advance, type Cancelling, type Signals } from '../engine/advance.ts'
import { Interruption } from '../engine/interruption.ts'
import type { Engine } from '../engine/run.ts'
import { commitOne } from '../ports/store.ts'
import type { Doorbell } from './doorbell.ts'
import type { HeldDispatches } from './held.ts'

const LEASE_MS = 30_000
const BEAT_MS = 10_000
/** Timers are wall instants and the wall clock may jump, so a long sleep is taken in naps. */
const LONGEST_NAP_MS = 30_000
/** A provider's retry that is due this soon counts as work under way; a later one is left for the next start. */
export const SOON_MS = 60_000

export interface Kernel {
  readonly engine: Engine
  readonly bell: Doorbell
  readonly epoch: number
  readonly maxConcurrent: number
  readonly reins: Reins
  readonly held: HeldDispatches
}

/** The runs of this process, by their dispatches: how each is asked to stop. */
export type Reins = Map<string, Rein>

interface Rein {
  readonly afterStep: AbortController
  readonly immediate: AbortController
  readonly pause: AbortController
}

/** Contract: what was committed for a dispatch that runs here is heard by its run; harmless for one that does not. */
export function tellRein(reins: Reins, dispatch_id: string, what: Cancel | 'pause'): void {
  const rein = reins.get(dispatch_id)
  if (what === 'pause') rein?.pause.abort()
  else if (what === 'after_step') rein?.afterStep.abort()
  else rein?.immediate.abort(new Interruption('cancelled'))
}

export interface DrainOptions {
  /** Return when nothing is pending, running or about to be retried; otherwise go on until told to stop. Asked anew at each ring of the bell. */
  readonly untilIdle: boolean | (() => boolean)
  /** Only these dispatches. */
  readonly only?: readonly string[] | undefined
  /** Claim nothing more after this, and return when what runs has come to the end of its step. */
  readonly until?: AbortSignal | undefined
  readonly signals: Signals
}

/** A worker's epoch begins: what an earlier life of this home left running is recovered at once. */
export async function joinHome(engine: Engine, name: string): Promise<{ epoch: number; lost: number }> {
  const now = engine.clock.now()
  const [{ epoch }, { lost }] = await commitOne(engine.store, [
    { op: 'join', name, now, lease_until: now + LEASE_MS, alone: true },
    { op: 'recover', now },
  ])
  return { epoch, lost }
}

export async function leaveHome({ engine, epoch }: Kernel): Promise<void> {
  await commitOne(engine.store, [{ op: 'leave', epoch, now: engine.clock.now() }])
}

/** Contract: resolves when drained or stopped, with nothing of it running any more; rejects when the store has failed. */
export async function drain(kernel: Kernel, options: DrainOptions): Promise<void> {
  const { engine, bell } = kernel
  const stop = options.until ? AbortSignal.any([options.signals.drain, options.until]) : options.signals.drain
  const broken = new AbortController()
  const signals: Signals = { drain: stop, abort: AbortSignal.any([options.signals.abort, broken.signal]) }
  // Not by dispatch: one that has parked may be woken and claimed anew before its last run has tidied up.
  const running = new Set<Promise<void>>()
  const retries = new Map<string, number>()
  let failure: TirelessError | undefined

  function fail(thrown: unknown): void {
    failure ??= asTirelessError(thrown)
    broken.abort()
    bell.ring()
  }

  async function work(dispatch: Dispatch): Promise<void> {
    const { dispatch_id } = dispatch
    const rein = newRein()
    kernel.reins.set(dispatch_id, rein)
    const cancelling: Cancelling = { afterStep: rein.afterStep.signal, immediate: rein.immediate.signal }
    const its = { ...signals, drain: AbortSignal.any([signals.drain, rein.pause.signal]) }
    try {
      await hearWishes(kernel, dispatch_id)
      const moved = await advance(engine, dispatch, its, cancelling)
      if (moved.kind === 'park' && moved.wait.kind === 'retry' && moved.wait.until - engine.clock.now() <= SOON_MS)
        retries.set(dispatch.dispatch_id, moved.wait.until)
    } catch (thrown) {
      const error = asTirelessError(thrown)
      // A fenced run has lost its dispatch to another owner, who goes on with it. Anything else means the store is gone.
      if (error.code !== 'store_fenced') fail(error)
    } finally {
      if (kernel.reins.get(dispatch_id) === rein) kernel.reins.delete(dispatch_id)
    }
  }

  const beating = new AbortController()
  const heart = beat(kernel, () => running.size > 0, beating.signal).catch(fail)
  try {
    while (!failure && !signals.drain.aborted) {
      const since = bell.rung()
      const now = engine.clock.now()
      const nextTimer = await engine.store.nextTimer()
      if (nextTimer !== undefined && nextTimer <= now) await commitOne(engine.store, [{ op: 'promote', now }])
      for (const [id, until] of retries) if (until <= now) retries.delete(id)
      for (const dispatch of await claim(kernel, kernel.maxConcurrent - running.size, options.only, signals.drain)) {
        const working = work(dispatch).finally(() => {
          running.delete(working)
          bell.ring()
        })
        running.add(working)
      }
      const { untilIdle } = options
      if ((typeof untilIdle === 'function' ? untilIdle() : untilIdle) && running.size === 0 && retries.size === 0) break
      await bellOrTimer(kernel, since, signals.drain)
    }
  } finally {
    beating.abort()
    await Promise.all([...running, heart])
  }
  if (failure) throw failure
}

/** Read once its rein is there: what was wished for between the claim and now was told to nobody. */
async function hearWishes({ engine, reins }: Kernel, dispatch_id: string): Promise<void> {
  const { cancel, paused } = (await engine.store.dispatch(dispatch_id)) ?? {}
  if (cancel) tellRein(reins, dispatch_id, cancel)
  if (paused) tellRein(reins, dispatch_id, 'pause')
}

const newRein = (): Rein => ({
  afterStep: new AbortController(),
  immediate: new AbortController(),
  pause: new AbortController(),
})

async function claim(
  { engine, epoch, held }: Kernel,
  free: number,
  only: readonly string[] | undefined,
  stop: AbortSignal,
): Promise<readonly Dispatch[]> {
  // A read first: looking for work that is not there writes nothing.
  if (free <= 0 || (await engine.store.counts()).pending === 0 || stop.aborted) return []
  const now = engine.clock.now()
  const op = { op: 'claim', epoch, limit: free, now } as const
  // Who has rested may have a lease that has ended.
  const [claimed] = await commitOne(engine.store, [
    only === undefined ? { ...op, except: [...held.ids] } : { ...op, only },
    { op: 'beat', epoch, lease_until: now + LEASE_MS },
  ])
  return claimed
}

async function bellOrTimer({ engine, bell }: Kernel, since: number, stop: AbortSignal): Promise<void> {
  const done = new AbortController()
  const either = AbortSignal.any([done.signal, stop])
  const timer = await engine.store.nextTimer()
  const waits = [bell.wait(since, either)]
  if (timer !== undefined)
    waits.push(engine.clock.sleep(Math.min(Math.max(0, timer - engine.clock.now()), LONGEST_NAP_MS), either))
  await Promise.race(waits)
  done.abort('over')
}

/**
 * One heartbeat for the worker, not one per dispatch. Who has no work in hand needs no lease, so nothing is written while nothing happens: idle
 * costs nothing (I8). A store that has failed rings as well, and the beat is what finds it out.
 */
async function beat({ engine, bell, epoch }: Kernel, isBusy: () => boolean, signal: AbortSignal): Promise<void> {
  let heard = bell.rung()
  while (!signal.aborted) {
    await engine.clock.sleep(BEAT_MS, signal)
    if (signal.aborted) return
    const rung = bell.rung()
    if (!isBusy() && rung === heard) continue
    heard = rung
    await commitOne(engine.store, [{ op: 'beat', epoch, lease_until: engine.clock.now() + LEASE_MS }])
  }
}
