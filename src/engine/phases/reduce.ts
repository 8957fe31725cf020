/**
 * REDUCE: computes the new state after a step. A reducer may return a new state or change its copy in place. The
 * journal stores the patch; the previous state is not modified.
 */

import { asTirelessError, TirelessError } from '../../domain/error.ts'
import { copyJson, copyPlainData, ignoreRejections, type Json } from '../../domain/json.ts'
import { type Patch, patchBetween } from '../../domain/json-patch.ts'
import type { Behaviour, CompletedStep } from '../../ports/behaviour.ts'
import { callPlugin } from '../plugins/ask-plugin.ts'
import type { Run } from '../run.ts'

/** Copies the state for a plugin, which may change its copy. */
export const copyState: (state: Json) => Json = copyJson

export function reduceState(
  run: Run,
  step: CompletedStep,
): { readonly state: Json; readonly patch: Patch | undefined } {
  const { behaviour, thread } = run
  if (!behaviour.reduce) return { state: thread.state, patch: undefined }
  const given = copyState(thread.state)
  try {
    const method = { who: `behaviour ${behaviour.name}`, method: 'reduce' }
    const returned = callPlugin(method, () => behaviour.reduce?.(given, step))
    const state = checkState(behaviour, 'reduce', returned === undefined ? given : returned)
    return { state, patch: patchBetween(thread.state, state) }
  } catch (thrown) {
    // Any error of the reducer or the schema means that there is no valid state.
    throw new TirelessError('state_invalid', asTirelessError(thrown).message, { cause: thrown })
  }
}

/**
 * Contract: returns plain data that fits the behaviour's schema and can be stored in the journal; else throws
 * `state_invalid`.
 */
export function checkState({ name, state: shape }: Stateful, method: string, state: unknown): Json {
  const what = `the state that behaviour ${name} returned from ${method}()`
  const plain = plainState(what, state)
  const checked = shape?.schema.safeParse(plain)
  if (checked && !checked.success) {
    const [issue] = checked.error.issues
    throw new TirelessError('state_invalid', {
      what: `${what} does not fit its schema`,
      where: issue?.path.join('.') || undefined,
      got: issue?.message,
    })
  }
  // A schema can transform the value, so its output is checked again.
  return checked ? plainState(`${what}, after its schema,`, checked.data) : plain
}

type Stateful = Pick<Behaviour, 'name' | 'state'>

function plainState(what: string, state: unknown): Json {
  ignoreRejections(state)
  return copyPlainData(state, { what, code: 'state_invalid', undefinedKeys: 'refuse' })
}
