/**
 * REDUCE: what the step made of the state. A reducer may return a new state or change the one it is given: either way the journal holds
 * how it changed, and the state as it was is untouched.
 */

import { asTirelessError, TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import { type Patch, patchOf } from '../domain/patch.ts'
import type { Reduced, StateShape } from '../ports/behaviour.ts'
import type { Run } from './run.ts'

/** For whoever is handed the state: theirs to change. */
export function ownCopy(state: Json): Json {
  return typeof state === 'object' && state !== null ? structuredClone(state) : state
}

export function reduce(run: Run, step: Reduced): { readonly state: Json; readonly patch: Patch | undefined } {
  const { behaviour, thread } = run
  if (!behaviour.reduce) return { state: thread.state, patch: undefined }
  const given = ownCopy(thread.state)
  try {
    const returned = behaviour.reduce(given, step)
    const state = checkState(behaviour.state, returned === undefined ? given : returned)
    return { state, patch: patchOf(thread.state, state) }
  } catch (thrown) {
    // Whatever a reducer or a schema throws, it is the state that could not be made.
    throw new TirelessError('state_invalid', asTirelessError(thrown).message, { cause: thrown })
  }
}

/** The gate: plain JSON, and of the behaviour's shape. */
export function checkState(shape: StateShape | undefined, state: Json): Json {
  const text = JSON.stringify(state)
  if (text === undefined) throw new TirelessError('state_invalid', 'the state is not plain data')
  const plain = JSON.parse(text) as Json
  const checked = shape?.schema.safeParse(plain)
  if (checked && !checked.success) {
    const [issue] = checked.error.issues
    throw new TirelessError('state_invalid', {
      what: 'the state does not fit its schema',
      where: issue?.path.join('.') || undefined,
      got: issue?.message,
    })
  }
  return checked ? checked.data : plain
}
