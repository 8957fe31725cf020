/**
 * Calls a plugin (behaviour, model, parser, memory, critic, gate, search, tool or environment) and checks the result.
 * Must not know: what follows from an invalid value. The caller decides: the step fails, a call is held back, or a
 * diagnosis is recorded.
 * Invariants: no return value is used unchecked or shared with the plugin; no plugin can end the process or throw an
 * error that looks like an error of the store.
 */

import { asTirelessError, type ErrorCode, TirelessError } from '../../domain/error.ts'
import { copyPlainData, describeValue, ignoreRejections, type Json } from '../../domain/json.ts'
import { type Shape, ShapeMismatch } from '../shape.ts'

export interface PluginMethod {
  /** The owner of the method, such as `critic strict`. */
  readonly who: string
  readonly method: string
}

export interface PluginPort<T> extends PluginMethod {
  /** Completes the sentence "expected …". */
  readonly expected: string
  readonly shape: Shape<T>
  /** Error code for an invalid value. Default: `plugin_invalid`. */
  readonly code?: ErrorCode
}

/**
 * Contract: returns a checked copy of the plugin's value. Throws the port's code for an invalid value, and
 * `plugin_failed` if the plugin throws an error without a code.
 */
export function askPlugin<T>(port: PluginPort<T>, call: () => unknown): T {
  return checkReturn(port, callPlugin(port, call))
}

/** Contract: like `askPlugin`, for a method that may return a promise. */
export async function askPluginAsync<T>(port: PluginPort<T>, call: () => unknown): Promise<T> {
  return checkReturn(port, await callPluginAsync(port, call))
}

export function checkReturn<T>(port: PluginPort<T>, value: unknown): T {
  const result = port.shape(value === undefined ? undefined : copyPlainReturn(port, value, port.code))
  if (!(result instanceof ShapeMismatch)) return result
  const { path, message } = result
  throw invalidReturnError(port, value, path.length === 0 ? undefined : `at ${path.join('.')}: ${message}`)
}

export function invalidReturnError(
  { who, method, expected, code = 'plugin_invalid' }: Omit<PluginPort<unknown>, 'shape'>,
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

/** Contract: returns the unchecked value; throws like `askPlugin`. */
export function callPlugin(of: PluginMethod, call: () => unknown): unknown {
  try {
    return call()
  } catch (thrown) {
    throw pluginError(of, thrown)
  }
}

/** Contract: like `callPlugin`, for a method that may return a promise. */
export async function callPluginAsync(of: PluginMethod, call: () => unknown): Promise<unknown> {
  try {
    return await call()
  } catch (thrown) {
    throw pluginError(of, thrown)
  }
}

/** Keeps the plugin's own error code unless it starts with `store_`: a plugin must not look like a failing store. */
function pluginError({ who, method }: PluginMethod, thrown: unknown): TirelessError {
  const { code, message } = asTirelessError(thrown)
  if (thrown instanceof TirelessError && code === thrown.code && !code.startsWith('store_')) return thrown
  return new TirelessError('plugin_failed', `${who} failed in ${method}(): ${message}`, { cause: thrown })
}

/** Contract: returns a copy of plain data without undefined keys; throws for any other value. */
export function copyPlainReturn(
  { who, method }: PluginMethod,
  value: unknown,
  code: ErrorCode = 'plugin_invalid',
): Json {
  try {
    return copyPlainData(value, {
      what: `the value that ${who} returned from ${method}()`,
      code,
      undefinedKeys: 'omit',
    })
  } catch (thrown) {
    ignoreRejections(value)
    throw thrown
  }
}
