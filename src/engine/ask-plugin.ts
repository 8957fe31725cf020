/**
 * Asks a plugin: behaviour, model, parser, memory, critic, gate, search, tool or env, and checks what it returns where that enters the engine.
 * Must not know: what follows from a return that is refused. The caller decides: a step that fails, a call that is held back, a diagnosis.
 * Invariants: nothing of a return is used unchecked, or shared with the plugin that made it; no plugin can end the process, or pass for the store.
 */

import { asTirelessError, type ErrorCode, TirelessError } from '../domain/error.ts'
import { describeValue, ignoreRejections, type Json, plainCopy } from '../domain/json.ts'
import { Misfit, type Shape } from './shape.ts'

export interface Method {
  /** Whose method it is, such as `critic strict`. */
  readonly who: string
  readonly method: string
}

export interface Port<T> extends Method {
  /** Completes the sentence "expected …". */
  readonly expected: string
  readonly shape: Shape<T>
  /** Default: `plugin_invalid`. */
  readonly code?: ErrorCode
}

/**
 * Contract: what the plugin returned, checked and copied; throws the code of the port where the return is not of its shape, and
 * `plugin_failed` where the plugin threw something without a code.
 */
export function askPlugin<T>(port: Port<T>, call: () => unknown): T {
  return checkReturn(port, callPlugin(port, call))
}

/** Contract: as `askPlugin`, for a method that may return a promise. */
export async function askPluginLater<T>(port: Port<T>, call: () => unknown): Promise<T> {
  return checkReturn(port, await callPluginLater(port, call))
}

/** Contract: as `askPlugin`, for a method whose return does not matter; a promise is refused, because its failure would go unnoticed. */
export function tellPlugin(of: Method, call: () => unknown): void {
  const value = callPlugin(of, call)
  ignoreRejections(value)
  if (value instanceof Promise) throw invalidReturn({ ...of, expected: 'nothing' }, value)
}

export function checkReturn<T>(port: Port<T>, value: unknown): T {
  const taken = port.shape(value === undefined ? undefined : plainReturn(port, value, port.code))
  if (!(taken instanceof Misfit)) return taken
  const { path, message } = taken
  throw invalidReturn(port, value, path.length === 0 ? undefined : `at ${path.join('.')}: ${message}`)
}

export function invalidReturn(
  { who, method, expected, code = 'plugin_invalid' }: Omit<Port<unknown>, 'shape'>,
  value: unknown,
  detail?: string,
): TirelessError {
  ignoreRejections(value)
  const what = `${who} returned an invalid value from ${method}()`
  return new TirelessError(code, {
    what: detail === undefined ? what : `${what} (${detail})`,
    got: describeValue(value),
    expected,
  })
}

/** Contract: what it returned, not checked yet; throws as `askPlugin` does. */
export function callPlugin(of: Method, call: () => unknown): unknown {
  try {
    return call()
  } catch (thrown) {
    throw ofPlugin(of, thrown)
  }
}

/** Contract: as `callPlugin`, for a method that may return a promise. */
export async function callPluginLater(of: Method, call: () => unknown): Promise<unknown> {
  try {
    return await call()
  } catch (thrown) {
    throw ofPlugin(of, thrown)
  }
}

/** A code of its own is kept, unless it is the store's: a plugin's failure is no failure of the store, whatever it calls itself. */
function ofPlugin({ who, method }: Method, thrown: unknown): TirelessError {
  const { code, message } = asTirelessError(thrown)
  if (thrown instanceof TirelessError && code === thrown.code && !code.startsWith('store_')) return thrown
  return new TirelessError('plugin_failed', `${who} failed in ${method}(): ${message}`, { cause: thrown })
}

/** Contract: a copy of any plain data, without the keys that are undefined. */
export function plainReturn({ who, method }: Method, value: unknown, code: ErrorCode = 'plugin_invalid'): Json {
  try {
    return plainCopy(value, { what: `what ${who} returned from ${method}()`, code, undefinedKeys: 'omit' })
  } catch (thrown) {
    ignoreRejections(value)
    throw thrown
  }
}
