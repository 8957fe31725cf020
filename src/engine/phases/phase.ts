/**
 * Runs one phase of a step between its before and after hooks. The after hook runs on every path.
 * Must not know: what a phase does.
 * Invariants: I9 (a hook that throws or hangs is recorded as a diagnosis and does not affect the run).
 */

import { asTirelessError } from '../../domain/error.ts'
import { copyJson, deepFreeze, type Json } from '../../domain/json.ts'
import { withDeadline } from '../../ports/deadline.ts'
import type { Hook, HookContext, HookedPhase, HookFailure } from '../../ports/hook.ts'
import { appendRecord, type ClaimedRun, type ObservedRun, type Run, runRefOf } from '../run.ts'
import type { OpenTurn } from '../session/session-thread.ts'

/**
 * Time limit of a hook. After a hook exceeds it once, the run stops waiting for that hook until the run is opened
 * again.
 */
const HOOK_MS = 1000

export async function runPhase<T>(run: Run, name: HookedPhase, work: () => T | Promise<T>): Promise<T> {
  run.phase = name
  if (run.hooks.length === 0) return work()
  await runHooks(run, `on_before_${name}`, {})
  let more: Partial<HookContext> = {}
  try {
    const result = await work()
    if (run.hooks.some((hook) => hook[`on_after_${name}`])) more = { data: deepFreeze(copyResult(name, result)) }
    return result
  } catch (thrown) {
    more = { error: asTirelessError(thrown).message }
    throw thrown
  } finally {
    await runHooks(run, `on_after_${name}`, more)
  }
}

/** What a phase came to, as plain data. */
function copyResult(name: HookedPhase, result: unknown): Json {
  if (name === 'reduce') return copyJson((result as { readonly state: Json }).state)
  if (name !== 'observe') return copyJson(result as Json)
  const { input, observation, feedback } = result as OpenTurn
  return copyJson({ input, observation, ...(feedback === undefined ? {} : { feedback }) } as unknown as Json)
}

type HookMoment = Exclude<keyof Hook, 'name' | 'on_event'>

/** Contract: never rejects; calls each hook once. Failures go to the journal, or to `onFailure` if it is given. */
export async function runHooks(
  run: ObservedRun,
  moment: HookMoment,
  more: Partial<HookContext>,
  onFailure?: (failure: HookFailure) => void,
): Promise<void> {
  const { turns } = run.thread
  const step_id = moment === 'on_run_start' || moment === 'on_run_end' ? turns : turns + 1
  for (const hook of run.hooks) {
    const method = hook[moment]
    if (!method) continue
    const problem = await callHook(run, hook, () => method.call(hook, { ...runRefOf(run), step_id, ...more }))
    if (problem === undefined) continue
    if (onFailure) onFailure({ hook: hook.name, moment, message: problem })
    else recordDiagnosis(run, `hook ${hook.name}: ${moment}`, problem)
  }
}

async function callHook(run: ObservedRun, hook: Hook, work: () => void | Promise<void>): Promise<string | undefined> {
  try {
    const done = work()
    if (!(done instanceof Promise)) return undefined
    if (run.slowHooks.has(hook.name)) {
      done.catch(() => {})
      return undefined
    }
    const isLate = await withDeadline(
      { clock: run.engine.clock, ms: HOOK_MS },
      () => done.then(() => false),
      () => true,
    )
    if (!isLate) return undefined
    run.slowHooks.add(hook.name)
    return `the hook took longer than ${HOOK_MS} ms; the run no longer waits for it`
  } catch (thrown) {
    return asTirelessError(thrown).message
  }
}

export function recordDiagnosis(run: ClaimedRun, about: string, message: string): void {
  appendRecord(run, { kind: 'diagnosed', turn: run.thread.turn, about, message })
}
