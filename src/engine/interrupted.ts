/**
 * A call that was intended and never settled, as it is listed, and as it is settled when its run ends before anybody could recover it.
 * Must not know: tools. Recovery itself is recover.ts.
 * Invariants: I4 (whatever becomes of a run, a call that it intended is settled or listed as unknown).
 */

import type { CallResult } from '../domain/decision.ts'
import { whoHears } from '../domain/effect.ts'
import { type Resolution, type Unknown, type UnknownStatus, unknownIdOf } from '../domain/unknown.ts'
import { iso } from '../ports/clock.ts'
import type { Op } from '../ports/store.ts'
import { type Claimed, record } from './run.ts'
import type { Intended, OpenTurn } from './thread.ts'

/** Contract: what it returns belongs into the commit of the records it makes. */
export async function settleInterrupted(run: Claimed, open: OpenTurn): Promise<readonly Op[]> {
  const ops: Op[] = []
  for (const intended of open.intended.values()) {
    const { turn, index, call, effect } = intended
    if (open.settled.has(index)) continue
    const known = await knownOf(run, intended)
    const status = whoHears(effect) === 'ask_human' ? 'open' : 'told_model'
    // To check again was no answer, and nobody is left to check: it is asked about anew.
    if (!known || known.resolution === 'recheck')
      ops.push({ op: 'unknown', unknown: unknownOf(run, intended, status, known?.output_so_far ?? '') })
    const result = run.engine.replaying?.recovered(intended) ?? resultOf(known?.resolution ?? null)
    record(run, { kind: 'call_settled', turn, index, call_id: call.id, result })
  }
  return ops
}

function resultOf(word: Resolution | null): CallResult {
  const said = 'this call was cut short'
  if (word === 'happened') return { status: 'ok', content: `${said}; the owner says it did take effect` }
  if (word === 'not') return { status: 'not_started', content: `${said}; the owner says it did not take effect` }
  return { status: 'unknown', content: `${said}; nobody knows whether it took effect. Look before you repeat it.` }
}

export async function knownOf({ engine, dispatch }: Claimed, intended: Intended): Promise<Unknown | undefined> {
  const { session_id } = dispatch
  const all = await engine.store.unknowns({ session_id })
  return all.find(({ id }) => id === unknownIdOf(session_id, intended))
}

export function unknownOf(run: Claimed, intended: Intended, status: UnknownStatus, output: string): Unknown {
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
