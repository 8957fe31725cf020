/**
 * How a step ends: one commit with the last results, the acknowledged input, and what became of the dispatch (I3).
 */

import type { Next } from '../domain/decision.ts'
import { assertNever } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import { endingOf } from '../domain/stop.ts'
import type { Wait } from '../domain/wait.ts'
import type { Op } from '../ports/store.ts'
import { contextOf } from './execute.ts'
import { settleInterrupted } from './interrupted.ts'
import { type Claimed, flush, type Run, record, stateOf } from './run.ts'
import { setback } from './setback.ts'
import type { OpenTurn } from './thread.ts'

/** What became of the run: it goes on, it is parked, it is given back, or it is over. */
export type Moved = Next | { readonly kind: 'release' } | { readonly kind: 'no_input' }

export type End = Extract<Next, { kind: 'end' }>

export async function commitStep(run: Run, turn: OpenTurn, next: Next, state: Json): Promise<Moved> {
  const before = stateOf(run)
  const changed = state !== before && JSON.stringify(state) !== JSON.stringify(before)
  record(run, { kind: 'step_committed', turn: turn.turn, next, ...(changed ? { state } : {}) })
  const moved = await close(run, next, acknowledging(run, turn))
  await clearAway(run, turn)
  return moved
}

async function close(run: Run, next: Next, acknowledge: readonly Op[]): Promise<Moved> {
  switch (next.kind) {
    case 'continue':
      await flush(run, acknowledge)
      return next
    case 'park':
      return park(run, next.wait, acknowledge)
    case 'end':
      return end(run, next, acknowledge)
    default:
      return assertNever(next)
  }
}

/** The step failed: the turn stays open for another try, or the run ends with it. Its input stays unread unless the mind has answered. */
export async function giveUp(run: Run, turn: OpenTurn, thrown: unknown): Promise<Moved> {
  const { clock } = run.engine
  const ruling = setback({ thrown, failures: turn.failures, run_id: run.dispatch.dispatch_id, now: clock.now() })
  if (ruling.kind === 'park') return park(run, ruling.wait, [])
  if (ruling.kind === 'release') return release(run)
  return end(run, ruling, await closeTurn(run, ruling))
}

/** Closes what is open of a run that ends without having completed its step. What it returns belongs into the same commit. */
export async function closeTurn(run: Claimed, next: End): Promise<readonly Op[]> {
  const { open } = run.thread
  if (!open) return []
  const unknowns = await settleInterrupted(run, open)
  record(run, { kind: 'step_committed', turn: open.turn, next })
  return [...unknowns, ...(open.answer || open.decided ? acknowledging(run, open) : [])]
}

export async function release(run: Run): Promise<Moved> {
  await flush(run, [{ op: 'release', now: run.engine.clock.now() }])
  return { kind: 'release' }
}

/** Something unread that already matches means there is nothing to wait for: no wake-up is lost. */
export async function park(run: Run, wait: Wait, ops: readonly Op[]): Promise<Moved> {
  const results = await flush(run, [...ops, { op: 'park', wait, now: run.engine.clock.now() }])
  const { parked } = results.at(-1) as { parked: boolean }
  return parked ? { kind: 'park', wait } : { kind: 'continue' }
}

export async function end(run: Claimed, next: End, ops: readonly Op[]): Promise<Moved> {
  endRun(run, run.dispatch.dispatch_id, next)
  await flush(run, [...ops, settling(run, next)])
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

function acknowledging(run: Claimed, turn: OpenTurn): Op[] {
  if (turn.input.length === 0) return []
  const { session_id } = run.dispatch
  return [
    { op: 'acknowledge', session_id, observation_ids: turn.input.map(({ id }) => id), now: run.engine.clock.now() },
  ]
}

/** What tools kept in case of a crash is not needed any more. */
async function clearAway(run: Run, turn: OpenTurn): Promise<void> {
  for (const intended of turn.intended.values()) {
    const tool = run.engine.tools.get(intended.call.tool)
    await tool?.settled?.(contextOf(run, intended, new AbortController().signal)).catch(() => {})
  }
}
