/**
 * Controls of the runs of this process: how each is told to end, to pause or to stop.
 * Must not know: who tells them.
 */

import type { CancelMode } from '../../domain/dispatch.ts'
import { Interruption } from '../../engine/abort-reason.ts'
import type { Store } from '../../ports/store.ts'
import type { WakeSignal } from './wake-signal.ts'

/** The runs of this process by dispatch id, each with its stop controls. */
export type RunControls = Map<string, RunControl>

interface RunControl {
  /** Whether another run started it, whose end cancels it. */
  readonly hasParent: boolean
  readonly afterStep: AbortController
  readonly immediate: AbortController
  readonly pause: AbortController
  readonly interrupt: AbortController
}

/** What a run is told: to end, to stop after its step, or to stop in its step; the last two keep the work. */
export type RunNotice = CancelMode | 'pause' | 'interrupt'

/** Contract: signals the run of this dispatch, if it runs in this process; otherwise does nothing. */
export function signalRun(controls: RunControls, dispatch_id: string, what: RunNotice): void {
  const control = controls.get(dispatch_id)
  if (what === 'pause' || what === 'interrupt') control?.pause.abort()
  if (what === 'interrupt') control?.interrupt.abort()
  if (what === 'after_step') control?.afterStep.abort()
  if (what === 'immediate') control?.immediate.abort(new Interruption('cancelled'))
}

/** Applies requests to cancel or pause that were made after the claim, before the run was registered for them. */
export async function applyPendingRequests(store: Store, controls: RunControls, dispatch_id: string): Promise<void> {
  const { cancel, paused } = (await store.dispatch(dispatch_id)) ?? {}
  if (cancel) signalRun(controls, dispatch_id, cancel)
  if (paused) signalRun(controls, dispatch_id, 'pause')
}

/** The end of a run cancels the runs that it started, in the store; here they learn of it. */
export async function applyCancelledChildren(store: Store, controls: RunControls): Promise<void> {
  for (const [id, { hasParent }] of [...controls]) if (hasParent) await applyPendingRequests(store, controls, id)
}

export const createControl = (hasParent: boolean): RunControl => ({
  hasParent,
  afterStep: new AbortController(),
  immediate: new AbortController(),
  pause: new AbortController(),
  interrupt: new AbortController(),
})

/** Contract: interrupts all runs of this process; resolves when none is left. Their work is kept. */
export async function interruptRuns(controls: RunControls, wakeSignal: WakeSignal): Promise<void> {
  const never = new AbortController().signal
  while (controls.size > 0) {
    const since = wakeSignal.ringCount()
    for (const id of controls.keys()) signalRun(controls, id, 'interrupt')
    // The end of each run rings.
    if (controls.size > 0) await wakeSignal.wait(since, never)
  }
}

/** Applies what other processes have asked of the runs of this one. */
export async function applyRequests(store: Store, controls: RunControls): Promise<void> {
  for (const id of [...controls.keys()]) await applyPendingRequests(store, controls, id)
}
