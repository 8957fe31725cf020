/**
 * Asks a plugin that may answer later. A plugin that takes too long has failed; an interrupted run does not wait for
 * it.
 * Must not know: what follows from an answer or a failure.
 */

import { TirelessError } from '../../domain/error.ts'
import type { Clock } from '../../ports/clock.ts'
import { withDeadline } from '../../ports/deadline.ts'
import type { GracePeriod } from '../grace-period.ts'
import { callPlugin, callPluginAsync, checkReturn, type PluginMethod, type PluginPort } from './ask-plugin.ts'

/** Time limit of one answer. */
const ANSWER_MS = 10_000

interface AskingRun {
  readonly engine: { readonly clock: Clock }
  readonly grace: GracePeriod
}

/** Contract: like `askPluginAsync`; throws `plugin_failed` after ten seconds, `aborted` if the run is interrupted. */
export async function askPluginInTime<T>(run: AskingRun, port: PluginPort<T>, call: () => unknown): Promise<T> {
  return checkReturn(port, await callPluginInTime(run, port, call))
}

/** Contract: like `askPluginInTime`, but returns the unchecked value. */
export async function callPluginInTime(run: AskingRun, of: PluginMethod, call: () => unknown): Promise<unknown> {
  const value = callPlugin(of, call)
  if (!(value instanceof Promise)) return value
  const late = (): never => {
    throw new TirelessError(
      'plugin_failed',
      `${of.who} did not answer ${of.method}() within ${ANSWER_MS / 1000} seconds`,
    )
  }
  return run.grace.race(
    () => withDeadline({ clock: run.engine.clock, ms: ANSWER_MS }, () => callPluginAsync(of, () => value), late),
    () => {
      throw new TirelessError('aborted', `the run was interrupted while it waited for ${of.who}`)
    },
  )
}
