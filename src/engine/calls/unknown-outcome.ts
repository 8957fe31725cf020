/**
 * Unknown outcomes: lists calls that started but have no result, and settles them when their run ends before recovery.
 * Must not know: tools, see recover-call.ts.
 * Invariants: I4 (every call that started is settled or listed as unknown, however its run ends).
 */

import type { CallResult } from '../../domain/decision.ts'
import { unknownOutcomeAction } from '../../domain/effect.ts'
import { type Resolution, type UnknownOutcome, type UnknownStatus, unknownIdOf } from '../../domain/unknown-outcome.ts'
import { iso } from '../../ports/clock.ts'
import type { Op } from '../../ports/store.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { appendRecord, type ClaimedRun } from '../run.ts'
import type { IntendedCall, OpenTurn } from '../session/session-thread.ts'

/** Contract: the caller commits the returned operations together with the new records. */
export async function settleInterruptedCalls(run: ClaimedRun, open: OpenTurn): Promise<readonly Op[]> {
  const ops: Op[] = []
  for (const intended of open.intended.values()) {
    const { turn, index, call, effect } = intended
    if (open.settled.has(index)) continue
    const known = await findUnknownOutcome(run, intended)
    const status = unknownOutcomeAction(effect) === 'ask_human' ? 'open' : 'told_model'
    // The owner asked for a recheck, but the run ends before it can check: list the outcome as open again.
    if (!known || known.resolution === 'recheck')
      ops.push({ op: 'unknown', unknown: newUnknownOutcome(run, intended, status, known?.output_so_far ?? '') })
    const result = run.engine.sources.recovery.unrecoveredResult(intended, known?.resolution ?? null)
    appendRecord(run, { kind: 'call_settled', turn, index, call_id: call.id, result })
  }
  return ops
}

/** The result of an interrupted call whose run ends before it can recover the call. */
export function unrecoveredResult(_: IntendedCall, resolution: Resolution | null): CallResult {
  if (resolution === 'happened') return { status: 'ok', content: loadPrompt('results/interrupted-call.md#took_effect') }
  if (resolution === 'not')
    return { status: 'not_started', content: loadPrompt('results/interrupted-call.md#no_effect') }
  return { status: 'unknown', content: loadPrompt('results/interrupted-call.md#unknown') }
}

/** Contract: whether the result is one of those above, so no process has recovered the call. */
export const isUnrecovered = ({ content }: CallResult): boolean =>
  UNRECOVERED.some((name) => content === loadPrompt(`results/interrupted-call.md#${name}`))

const UNRECOVERED = ['took_effect', 'no_effect', 'unknown'] as const

export async function findUnknownOutcome(
  { engine, dispatch }: ClaimedRun,
  intended: IntendedCall,
): Promise<UnknownOutcome | undefined> {
  const { session_id } = dispatch
  const all = await engine.store.unknowns({ session_id })
  return all.find(({ id }) => id === unknownIdOf(session_id, intended))
}

export function newUnknownOutcome(
  run: ClaimedRun,
  intended: IntendedCall,
  status: UnknownStatus,
  output: string,
): UnknownOutcome {
  const { dispatch_id, session_id } = run.dispatch
  return {
    id: unknownIdOf(session_id, intended),
    session_id,
    dispatch_id: run.thread.run_id ?? dispatch_id,
    tool: intended.call.tool,
    args: intended.call.args,
    reach: intended.effect.reach,
    started_at: iso(intended.ts),
    output_so_far: output,
    status,
    resolution: null,
  }
}
