/**
 * How a step ends: one commit with the last results, the acknowledged input, and what became of the dispatch (I3). A step that goes on
 * and has nothing to acknowledge is written with the next one's request: the two are one after the other without a pause.
 */

import type { Next } from '../domain/decision.ts'
import { assertNever, asTirelessError } from '../domain/error.ts'
import type { Patch } from '../domain/patch.ts'
import { endingOf } from '../domain/stop.ts'
import type { Wait } from '../domain/wait.ts'
import type { Op } from '../ports/store.ts'
import { tellPlugin } from './ask-plugin.ts'
import { isFromInbox } from './bind-input.ts'
import type { Judged } from './critic.ts'
import { contextOf } from './execute.ts'
import { settleInterrupted } from './interrupted.ts'
import { pastTurnOf } from './past.ts'
import { diagnose, tellHooks } from './phase.ts'
import { type Claimed, flush, type Run, record, type Watched } from './run.ts'
import type { OpenTurn } from './thread.ts'

/** What became of the run: it goes on, it is parked, it is given back, or it is over. */
export type Moved = Next | { readonly kind: 'release' } | { readonly kind: 'no_input' }

export type End = Extract<Next, { kind: 'end' }>

export interface Stepped {
  readonly next: Next
  readonly patch: Patch | undefined
  readonly verdicts: readonly Judged[]
  /** Monotonic instant at which the step began. */
  readonly began: number
}

export async function commitStep(
  run: Run,
  turn: OpenTurn,
  { next, patch, verdicts, began }: Stepped,
  more: readonly Op[] = [],
): Promise<Moved> {
  record(run, {
    kind: 'step_committed',
    turn: turn.turn,
    next,
    ...(patch === undefined ? {} : { patch }),
    ...(verdicts.length === 0 ? {} : { verdicts }),
    ms: Math.round(run.engine.clock.monotonic() - began),
  })
  remember(run, turn)
  run.afterwards.push(() => clearAway(run, turn))
  return close(run, next, [...more, ...acknowledging(run, turn)])
}

/** A memory that breaks costs the run what it would have remembered, not the step. */
function remember(run: Run, { turn }: OpenTurn): void {
  const past = run.thread.past.at(-1)
  try {
    if (past?.turn === turn)
      tellPlugin({ who: `memory ${run.thread.setup?.memory}`, method: 'append' }, () =>
        run.memory.append(pastTurnOf(past)),
      )
  } catch (thrown) {
    diagnose(run, 'memory', asTirelessError(thrown).message)
  }
}

async function close(run: Run, next: Next, ops: readonly Op[]): Promise<Moved> {
  switch (next.kind) {
    case 'continue':
      if (ops.length > 0) await flush(run, ops)
      return next
    case 'park':
      return park(run, next.wait, ops)
    case 'end':
      return end(run, next, ops)
    default:
      return assertNever(next)
  }
}

/** Closes what is open of a run that ends without having completed its step. What it returns belongs into the same commit. */
export async function closeTurn(run: Claimed, next: End): Promise<readonly Op[]> {
  const { open } = run.thread
  if (!open) return []
  const unknowns = await settleInterrupted(run, open)
  record(run, { kind: 'step_committed', turn: open.turn, next, ms: 0 })
  return [...unknowns, ...acknowledging(run, open)]
}

export async function release(run: Run): Promise<Moved> {
  await flush(run, [{ op: 'release', now: run.engine.clock.now() }])
  return { kind: 'release' }
}

/** Something unread that already matches means there is nothing to wait for: no wake-up is lost. */
export async function park(run: Claimed, wait: Wait, ops: readonly Op[]): Promise<Moved> {
  const results = await flush(run, [...ops, { op: 'park', wait, now: run.engine.clock.now() }])
  const { parked } = results.at(-1) as { parked: boolean }
  return parked ? { kind: 'park', wait } : { kind: 'continue' }
}

export async function end(run: Watched, next: End, ops: readonly Op[]): Promise<Moved> {
  const { replaying, hookFailed = () => {} } = run.engine
  const tellEnd = (broke?: typeof hookFailed) => tellHooks(run, 'on_run_end', { stop_reason: next.stop_reason }, broke)
  // Earlier versions told it first, and recorded who broke: a replay does so where its recording has it.
  if (replaying) await tellEnd()
  endRun(run, run.dispatch.dispatch_id, next)
  await flush(run, [...ops, settling(run, next)])
  if (!replaying) await tellEnd(hookFailed)
  return next
}

export function endRun(run: Claimed, run_id: string, { kind: _, ...ended }: End): void {
  record(run, { kind: 'run_ended', run_id, ...ended })
}

export function settling({ engine }: Claimed, next: End): Op {
  const ending = endingOf(next.stop_reason, next.failure_class)
  return {
    op: 'settle',
    status: ending.status,
    result: next.answer ?? null,
    error: next.error ?? null,
    failure_class: ending.status === 'failed' ? ending.failure_class : null,
    successor_id: engine.ids.next(),
    now: engine.clock.now(),
  }
}

/** What the mind never came to see stays unread. */
function acknowledging(run: Claimed, turn: OpenTurn): Op[] {
  const observation_ids = turn.input.filter(isFromInbox).map(({ id }) => id)
  if (observation_ids.length === 0 || (!turn.answer && !turn.decided)) return []
  const { session_id } = run.dispatch
  return [{ op: 'acknowledge', session_id, observation_ids, now: run.engine.clock.now() }]
}

/** The results are on disk: what tools kept for the case of a crash can go. */
async function clearAway(run: Run, turn: OpenTurn): Promise<void> {
  for (const intended of turn.intended.values()) {
    const tool = run.engine.tools.get(intended.call.tool)
    try {
      await tool?.settled?.(contextOf(run, intended, new AbortController().signal))
    } catch {}
  }
}
