/**
 * A phase of a step, with its hooks around it: before and after in pairs, on every path.
 * Must not know: what a phase does.
 * Invariants: I9 (a hook that throws or hangs is diagnosed, and hurts nobody).
 */

import { asTirelessError } from '../domain/error.ts'
import type { Hook, HookContext, HookedPhase, HookFailure } from '../ports/hook.ts'
import { type Claimed, type Run, record, refOf, type Watched } from './run.ts'

/** Longer than this nobody waits for a hook; one that took longer is not waited for again in this life of the run. */
const HOOK_MS = 1000

export async function phase<T>(run: Run, name: HookedPhase, work: () => T | Promise<T>): Promise<T> {
  run.phase = name
  if (run.hooks.length === 0) return work()
  await tellHooks(run, `on_before_${name}`, {})
  let error: string | undefined
  try {
    return await work()
  } catch (thrown) {
    error = asTirelessError(thrown).message
    throw thrown
  } finally {
    await tellHooks(run, `on_after_${name}`, error === undefined ? {} : { error })
  }
}

type Moment = Exclude<keyof Hook, 'name' | 'on_event'>

/** Contract: never rejects; each hook is called exactly once. `broke`: told of each that breaks, in place of the journal. */
export async function tellHooks(
  run: Watched,
  moment: Moment,
  more: Partial<HookContext>,
  broke?: (failure: HookFailure) => void,
): Promise<void> {
  const { turns } = run.thread
  const step_id = moment === 'on_run_start' || moment === 'on_run_end' ? turns : turns + 1
  for (const hook of run.hooks) {
    const told = hook[moment]
    if (!told) continue
    const trouble = await attempt(run, hook, () => told.call(hook, { ...refOf(run), step_id, ...more }))
    if (trouble === undefined) continue
    if (broke) broke({ hook: hook.name, moment, message: trouble })
    else diagnose(run, `hook ${hook.name}: ${moment}`, trouble)
  }
}

async function attempt(run: Watched, hook: Hook, work: () => void | Promise<void>): Promise<string | undefined> {
  const patience = new AbortController()
  try {
    const done = work()
    if (!(done instanceof Promise)) return undefined
    if (run.slow.has(hook.name)) {
      done.catch(() => {})
      return undefined
    }
    const late = run.engine.clock.sleep(HOOK_MS, patience.signal).then(() => 'late' as const)
    if ((await Promise.race([done, late])) !== 'late') return undefined
    run.slow.add(hook.name)
    done.catch(() => {})
    return `it took longer than ${HOOK_MS} ms and is not waited for any more`
  } catch (thrown) {
    return asTirelessError(thrown).message
  } finally {
    patience.abort('over')
  }
}

export function diagnose(run: Claimed, about: string, message: string): void {
  record(run, { kind: 'diagnosed', turn: run.thread.turn, about, message })
}
