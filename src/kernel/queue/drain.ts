/**
 * Drain: claims pending dispatches and runs them, up to a limit at a time, until none is left or a stop is requested.
 * Must not know: what a step does.
 * Invariants: I1 (only claimed dispatches run); I5 (a run that hangs or has lost its dispatch never stops the others);
 * every wait here also ends on the wake signal, so no wake-up is lost.
 */

import type { Dispatch } from '../../domain/dispatch.ts'
import { asTirelessError, type TirelessError } from '../../domain/error.ts'
import { advanceDispatch, type CancelSignals, type StopSignals } from '../../engine/advance.ts'
import type { Engine } from '../../engine/run.ts'
import { commitOne, fallbackIfUnreadable, type Op } from '../../ports/store.ts'
import type { HeldDispatches } from './held-dispatches.ts'
import { applyCancelledChildren, applyPendingRequests, createControl, type RunControls } from './run-controls.ts'
import { SlotSharing } from './slot-sharing.ts'
import type { WakeSignal } from './wake-signal.ts'

const LEASE_MS = 30_000
const BEAT_MS = 10_000
/** A long sleep is split, because timers are wall times and the wall clock may jump. */
const MAX_SLEEP_MS = 30_000
/** A retry due within this time counts as work in progress; a drain until idle does not wait for later retries. */
export const RETRY_SOON_MS = 60_000

export interface DrainDeps {
  readonly engine: Engine
  readonly wakeSignal: WakeSignal
  /** Undefined while this process has no lease on a shared store: then nothing is claimed. */
  readonly epoch: number | undefined
  /** Whether other processes work on the same store; then the lease is renewed elsewhere. */
  readonly isShared?: boolean
  /** The id of this home, if the store is shared. */
  readonly home?: string | undefined
  readonly maxConcurrent: number
  readonly controls: RunControls
  readonly held: HeldDispatches
}

export interface DrainOptions {
  /** True: return when nothing is pending, running or about to be retried. A function is called at each wake-up. */
  readonly untilIdle: boolean | (() => boolean)
  /** Claim these dispatches only. A function is called at each wake-up. */
  readonly only?: readonly string[] | (() => readonly string[]) | undefined
  /** When it aborts, nothing more is claimed, and the drain returns after the running steps. */
  readonly until?: AbortSignal | undefined
  readonly signals: StopSignals
}

/** Registers this process as a worker with a new epoch; recovers dispatches that an earlier process left running. */
export async function joinHome(
  engine: Engine,
  name: string,
): Promise<{ epoch: number; lost: number; dead: readonly string[] }> {
  const now = engine.clock.now()
  const [{ epoch }, { lost, dead }] = await commitOne(engine.store, [
    { op: 'join', name, now, lease_until: now + LEASE_MS, alone: true },
    { op: 'recover', now },
  ])
  return { epoch, lost, dead }
}

export async function leaveHome({ engine, epoch }: DrainDeps): Promise<void> {
  if (epoch !== undefined) await commitOne(engine.store, [{ op: 'leave', epoch, now: engine.clock.now() }])
}

/** Contract: resolves when the queue is empty or a stop was requested, with no run left; rejects if the store fails. */
export const drain = (deps: DrainDeps, options: DrainOptions): Promise<void> => new Drain(deps, options).run()

/** Wakes what waited for an instant that has come, and lets approvals expire that nobody answered in time. */
export async function promoteDueWork({ store, clock }: Pick<Engine, 'store' | 'clock'>): Promise<void> {
  const [now, borne_out] = [clock.now(), clock.borneOut()]
  const due = (await store.nextTimer()) ?? Number.POSITIVE_INFINITY
  const expiry = (await store.nextExpiry()) ?? Number.POSITIVE_INFINITY
  if (due <= now || expiry <= borne_out) await commitOne(store, [{ op: 'promote', now, borne_out }])
}

/** One drain: the runs that it has claimed, and the retries that it waits for. */
class Drain {
  readonly #deps: DrainDeps
  readonly #options: DrainOptions
  readonly #signals: StopSignals
  readonly #broken = new AbortController()
  /** A set of promises, not of ids: a parked dispatch may be claimed again before its previous claim has cleaned up. */
  readonly #running = new Set<Promise<void>>()
  /** When dispatches that failed will be retried, if that is soon. */
  readonly #retries = new Map<string, number>()
  /** Whether a dispatch that this drain has to run waits for its workspace, which another drain uses. */
  #isHeldUp = false
  readonly #slots: SlotSharing
  #failure: TirelessError | undefined

  constructor(deps: DrainDeps, options: DrainOptions) {
    const { drain, abort } = options.signals
    this.#deps = deps
    this.#options = options
    this.#slots = new SlotSharing(deps.engine, () => this.#running.size >= deps.maxConcurrent, deps.home)
    this.#signals = {
      drain: options.until ? AbortSignal.any([drain, options.until]) : drain,
      abort: AbortSignal.any([abort, this.#broken.signal]),
    }
  }

  async run(): Promise<void> {
    const { wakeSignal } = this.#deps
    // The heartbeat would notice it too, but only seconds later. Until then, people would get errors.
    const onStoreFailed = (): void => this.#fail(wakeSignal.storeFailed.reason)
    wakeSignal.storeFailed.addEventListener('abort', onStoreFailed)
    if (wakeSignal.storeFailed.aborted) onStoreFailed()
    const beating = new AbortController()
    const isBusy = (): boolean => this.#running.size > 0
    const heartbeat = this.#deps.isShared ? undefined : beat(this.#deps, isBusy, beating.signal)
    heartbeat?.catch((thrown) => this.#fail(thrown))
    try {
      while (!this.#failure && !this.#signals.drain.aborted) {
        const since = wakeSignal.ringCount()
        await this.#startDueWork()
        if (this.#isIdle()) break
        await waitForWork(this.#deps, since, this.#signals.drain)
      }
    } finally {
      beating.abort()
      await Promise.allSettled([...this.#running, heartbeat])
      wakeSignal.storeFailed.removeEventListener('abort', onStoreFailed)
    }
    if (this.#failure) throw this.#failure
  }

  async #startDueWork(): Promise<void> {
    const { engine, wakeSignal, maxConcurrent } = this.#deps
    const now = engine.clock.now()
    await promoteDueWork(engine)
    for (const [id, until] of this.#retries) if (until <= now) this.#retries.delete(id)
    const free = maxConcurrent - this.#running.size
    const only = this.#only()
    const wanted = only === undefined ? { last: this.#slots.last } : { only }
    const claimed = await claim(this.#deps, free, wanted, this.#signals.drain)
    this.#slots.onClaimed(claimed)
    this.#isHeldUp = free > claimed.length && (await hasPending(engine, only ?? []))
    for (const dispatch of claimed) {
      const working = this.#work(dispatch).finally(() => {
        this.#running.delete(working)
        wakeSignal.ring()
      })
      this.#running.add(working)
    }
  }

  /** Dispatches that run already are left out, so that a list that changes costs no commit. */
  #only(): readonly string[] | undefined {
    const { only } = this.#options
    return typeof only === 'function' ? only().filter((id) => !this.#deps.controls.has(id)) : only
  }

  #isIdle(): boolean {
    const { untilIdle } = this.#options
    const endsWhenIdle = typeof untilIdle === 'function' ? untilIdle() : untilIdle
    // A process that has lost its lease joins again, and then claims what is left.
    const mayClaim = this.#deps.epoch !== undefined
    return endsWhenIdle && mayClaim && this.#running.size === 0 && this.#retries.size === 0 && !this.#isHeldUp
  }

  async #work(dispatch: Dispatch): Promise<void> {
    const { engine, controls } = this.#deps
    const { dispatch_id } = dispatch
    const control = createControl(dispatch.parent_id !== null)
    controls.set(dispatch_id, control)
    const cancelling: CancelSignals = { afterStep: control.afterStep.signal, immediate: control.immediate.signal }
    const runSignals = {
      drain: AbortSignal.any([this.#signals.drain, control.pause.signal]),
      abort: AbortSignal.any([this.#signals.abort, control.interrupt.signal]),
      // Those who named what they wait for wait for nothing else.
      ...(this.#options.only === undefined ? { mustGiveWay: this.#slots.start(dispatch) } : {}),
    }
    try {
      await applyPendingRequests(engine.store, controls, dispatch_id)
      const outcome = await advanceDispatch(engine, dispatch, runSignals, cancelling)
      if (
        outcome.kind === 'park' &&
        outcome.wait.kind === 'retry' &&
        outcome.wait.until - engine.clock.now() <= RETRY_SOON_MS
      )
        this.#retries.set(dispatch_id, outcome.wait.until)
      if (outcome.kind === 'end') await applyCancelledChildren(engine.store, controls)
    } catch (thrown) {
      const error = asTirelessError(thrown)
      // `store_fenced`: another worker has taken the dispatch over and continues it. Other errors are store failures.
      if (error.code !== 'store_fenced') this.#fail(error)
    } finally {
      if (controls.get(dispatch_id) === control) controls.delete(dispatch_id)
    }
  }

  #fail(thrown: unknown): void {
    this.#failure ??= asTirelessError(thrown)
    this.#broken.abort()
    this.#deps.wakeSignal.ring()
  }
}

async function claim(
  deps: DrainDeps,
  free: number,
  wanted: { readonly only: readonly string[] } | { readonly last: readonly string[] },
  stop: AbortSignal,
): Promise<readonly Dispatch[]> {
  const { engine, held } = deps
  if ('only' in wanted && wanted.only.length === 0) return []
  // Counts before it claims, so that polling an empty queue writes nothing.
  if (free <= 0 || (await engine.store.counts()).pending === 0 || stop.aborted) return []
  return held.alone(async () => {
    // It may have waited for an undo.
    const { epoch } = deps
    if (stop.aborted || epoch === undefined) return []
    const now = engine.clock.now()
    const op = { op: 'claim', epoch, limit: free, now } as const
    const claiming = 'only' in wanted ? { ...op, ...wanted } : { ...op, except: [...held.ids], last: [...wanted.last] }
    if (deps.isShared) return claimBeside(engine, claiming)
    // The same commit renews the lease, which may have expired while the worker was idle.
    const [claimed] = await commitOne(engine.store, [claiming, { op: 'beat', epoch, now, lease_until: now + LEASE_MS }])
    return claimed
  })
}

/** Contract: nothing, if another process has ended this worker; it then joins again. */
async function claimBeside({ store }: Engine, op: Extract<Op, { op: 'claim' }>): Promise<readonly Dispatch[]> {
  try {
    return (await commitOne(store, [op]))[0]
  } catch (thrown) {
    if (asTirelessError(thrown).code === 'store_fenced') return []
    throw thrown
  }
}

/** Whether one of the dispatches could run, but for its workspace. Its user rings the wake signal when it ends. */
async function hasPending({ store }: Engine, ids: readonly string[]): Promise<boolean> {
  const found = await Promise.all(ids.map((id) => fallbackIfUnreadable(store.dispatch(id), undefined)))
  return found.some((dispatch) => dispatch?.status === 'pending' && !dispatch.paused)
}

async function waitForWork({ engine, wakeSignal }: DrainDeps, since: number, stop: AbortSignal): Promise<void> {
  const finished = new AbortController()
  const either = AbortSignal.any([finished.signal, stop])
  const { store, clock } = engine
  const due = (await store.nextTimer()) ?? Number.POSITIVE_INFINITY
  const expiry = (await store.nextExpiry()) ?? Number.POSITIVE_INFINITY
  const waitMs = Math.min(due - clock.now(), expiry - clock.borneOut())
  const waits = [wakeSignal.wait(since, either)]
  if (waitMs < Number.POSITIVE_INFINITY) waits.push(clock.sleep(Math.min(Math.max(0, waitMs), MAX_SLEEP_MS), either))
  await Promise.race(waits)
  finished.abort('over')
}

/**
 * The heartbeat, which renews the lease: one per worker, not per dispatch. An idle worker needs no lease, so it writes
 * nothing (I8). A failed commit also rings the wake signal; the next heartbeat then writes, and detects the failure.
 */
async function beat(
  { engine, wakeSignal, epoch }: DrainDeps,
  isBusy: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  let lastRung = wakeSignal.ringCount()
  while (!signal.aborted) {
    await engine.clock.sleep(BEAT_MS, signal)
    if (signal.aborted) return
    const rung = wakeSignal.ringCount()
    if (!isBusy() && rung === lastRung) continue
    lastRung = rung
    const now = engine.clock.now()
    if (epoch !== undefined) await commitOne(engine.store, [{ op: 'beat', epoch, now, lease_until: now + LEASE_MS }])
  }
}
