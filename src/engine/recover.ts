/**
 * A call that was intended by an earlier life of the program and never settled: what to do depends on its declared effect.
 * Invariants: pure and idempotent calls run again under the same key; reconcilable ones ask the world; `once` is never run again by
 * itself: the model hears of it where it can look for itself, a human where only a human can know.
 */

import type { CallResult } from '../domain/decision.ts'
import { afterCrash, whoHears } from '../domain/effect.ts'
import { assertNever } from '../domain/error.ts'
import type { Resolution, Unknown, UnknownStatus } from '../domain/unknown.ts'
import { iso } from '../ports/clock.ts'
import type { AnyTool, Probe } from '../ports/tool.ts'
import { callKey, contextOf, execute } from './execute.ts'
import { flush, type Run } from './run.ts'
import { Suspended } from './suspended.ts'
import type { Intended } from './thread.ts'

export async function recoverCall(
  run: Run,
  tool: AnyTool,
  intended: Intended,
  signal: AbortSignal,
): Promise<CallResult> {
  const plan = afterCrash(intended.effect)
  switch (plan) {
    case 'rerun':
      return execute(run, tool, intended, signal)
    case 'probe':
      return afterProbe(run, tool, intended, await probe(run, tool, intended, signal), signal)
    case 'tell_model':
      return tellModel(run, tool, intended, signal)
    case 'ask_human':
      return askHuman(run, tool, intended, signal)
    default:
      return assertNever(plan)
  }
}

async function afterProbe(
  run: Run,
  tool: AnyTool,
  intended: Intended,
  found: Probe,
  signal: AbortSignal,
): Promise<CallResult> {
  switch (found.kind) {
    case 'happened':
      return found.result
    case 'not':
      return execute(run, tool, intended, signal)
    case 'unclear':
      return whoHears(intended.effect) === 'tell_model'
        ? tellModel(run, tool, intended, signal)
        : askHuman(run, tool, intended, signal)
    default:
      return assertNever(found)
  }
}

async function tellModel(run: Run, tool: AnyTool, intended: Intended, signal: AbortSignal): Promise<CallResult> {
  const remains = await remainsOf(run, tool, intended, signal)
  await flush(run, [{ op: 'unknown', unknown: unknownOf(run, intended, remains, 'told_model') }])
  return {
    status: 'unknown',
    content: `the program was killed while this call ran; nobody knows whether it took effect, and it was not run again. Look before you repeat it.\n${remains}`,
  }
}

async function askHuman(run: Run, tool: AnyTool, intended: Intended, signal: AbortSignal): Promise<CallResult> {
  const unknown_id = callKey(run, intended)
  const known = (await run.engine.store.unknowns({ session_id: run.dispatch.session_id })).find(
    ({ id }) => id === unknown_id,
  )
  if (known?.status === 'resolved') return afterWord(run, tool, intended, known.resolution ?? 'recheck', signal)
  return wait(run, tool, intended, signal)
}

async function wait(run: Run, tool: AnyTool, intended: Intended, signal: AbortSignal): Promise<never> {
  const remains = await remainsOf(run, tool, intended, signal)
  const unknown = unknownOf(run, intended, remains, 'open')
  await flush(run, [{ op: 'unknown', unknown }])
  const reason = `nobody knows whether ${unknown.tool} took effect; tell with: unknowns resolve ${unknown.id} --as happened|not|recheck`
  throw new Suspended({ kind: 'unknown', unknown_id: unknown.id, until: null, reason })
}

async function afterWord(
  run: Run,
  tool: AnyTool,
  intended: Intended,
  word: Resolution,
  signal: AbortSignal,
): Promise<CallResult> {
  switch (word) {
    case 'happened':
      return {
        status: 'ok',
        content: 'the program was killed while this call ran; the owner has looked: it did take effect',
      }
    case 'not':
      return execute(run, tool, intended, signal)
    case 'recheck': {
      const found = await probe(run, tool, intended, signal)
      if (found.kind === 'happened') return found.result
      if (found.kind === 'not') return execute(run, tool, intended, signal)
      return wait(run, tool, intended, signal)
    }
    default:
      return assertNever(word)
  }
}

async function probe(run: Run, tool: AnyTool, intended: Intended, signal: AbortSignal): Promise<Probe> {
  if (!tool.probe) return { kind: 'unclear' }
  return tool.probe(intended.call.args as never, intended.before ?? null, contextOf(run, intended, signal))
}

async function remainsOf(run: Run, tool: AnyTool, intended: Intended, signal: AbortSignal): Promise<string> {
  return (await tool.remains?.(intended.call.args as never, contextOf(run, intended, signal))) ?? ''
}

function unknownOf(run: Run, intended: Intended, output: string, status: UnknownStatus): Unknown {
  return {
    id: callKey(run, intended),
    session_id: run.dispatch.session_id,
    dispatch_id: run.dispatch.dispatch_id,
    tool: intended.call.tool,
    args: intended.call.args,
    reach: intended.effect.reach,
    started_at: iso(intended.ts),
    output_so_far: output,
    status,
    resolution: null,
  }
}
