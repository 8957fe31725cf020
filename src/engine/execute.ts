/** Running one intended call. Must not know: whether it is the first try or a re-run after a crash. */

import type { CallResult } from '../domain/decision.ts'
import { asTirelessError } from '../domain/error.ts'
import { callKeyOf } from '../domain/unknown.ts'
import type { AnyTool, ToolContext } from '../ports/tool.ts'
import type { Run } from './run.ts'
import type { Intended } from './thread.ts'

/** Contract: never throws what the tool threw; a tool's failure is a result. */
export async function execute(run: Run, tool: AnyTool, intended: Intended, signal: AbortSignal): Promise<CallResult> {
  try {
    return await tool.run(intended.call.args as never, contextOf(run, intended, signal))
  } catch (thrown) {
    return failureOf(thrown, signal)
  }
}

export function failureOf(thrown: unknown, signal: AbortSignal): CallResult {
  const error = asTirelessError(thrown)
  return { status: signal.aborted ? 'interrupted' : 'error', content: `${error.code}: ${error.message}` }
}

export function contextOf(run: Run, at: { turn: number; index: number; ts: number }, signal: AbortSignal): ToolContext {
  return {
    env: run.env,
    clock: run.engine.clock,
    signal,
    call: callKeyOf(run.dispatch.session_id, at),
    intendedAt: at.ts,
    seen: run.thread.seen,
  }
}
