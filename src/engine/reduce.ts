/**
 * REDUCE: what the step made of the state. A reducer may return a new state or change the one it is given: either way the journal holds
 * how it changed, and the state as it was is untouched.
 */

import { asTirelessError, TirelessError } from '../domain/error.ts'
import { copyJson, ignoreRejections, type Json, plainCopy } from '../domain/json.ts'
import { type Patch, patchOf } from '../domain/patch.ts'
import type { Behaviour, Reduced } from '../ports/behaviour.ts'
import { callPlugin } from './ask-plugin.ts'
import type { Run } from './run.ts'

/** For whoever is handed the state: theirs to change. */
export const ownCopy: (state: Json) => Json = copyJson

export function reduce(run: Run, step: Reduced): { readonly state: Json; readonly patch: Patch | undefined } {
  const { behaviour, thread } = run
  if (!behaviour.reduce) return { state: thread.state, patch: undefined }
  const given = ownCopy(thread.state)
  try {
    const method = { who: `behaviour ${behaviour.name}`, method: 'reduce' }
    const returned = callPlugin(method, () => behaviour.reduce?.(given, step))
    const state = checkState(behaviour, 'reduce', returned === undefined ? given : returned)
    return { state, patch: patchOf(thread.state, state) }
  } catch (thrown) {
    // Whatever a reducer or a schema throws, it is the state that could not be made.
    throw new TirelessError('state_invalid', asTirelessError(thrown).message, { cause: thrown })
  }
}

/** The gate: plain data, of which nothing would vanish or change in the journal, and of the behaviour's shape. `method`: what it came from. */
export function checkState({ name, state: shape }: Stateful, method: string, state: unknown): Json {
  const what = `the state that behaviour ${name} returned from ${method}()`
  const plain = plainStateOf(what, state)
  const checked = shape?.schema.safeParse(plain)
  if (checked && !checked.success) {
    const [issue] = checked.error.issues
    throw new TirelessError('state_invalid', {
      what: 'the state does not fit its schema',
      where: issue?.path.join('.') || undefined,
      got: issue?.message,
    })
  }
  // A schema may put something else in its place.
  return checked ? plainStateOf(`${what}, as its schema makes it,`, checked.data) : plain
}

type Stateful = Pick<Behaviour, 'name' | 'state'>

function plainStateOf(what: string, state: unknown): Json {
  ignoreRejections(state)
  return plainCopy(state, { what, code: 'state_invalid', undefinedKeys: 'refuse' })
}
