/**
 * Gates: every call of a step is judged before any of them runs; one that a person has to allow first is held back, and its neighbours with it.
 * Must not know: who answers, and when. What was allowed comes back as input, see approved.ts.
 * Invariants: case 55 (one held back means none of the step's has begun); a gate that breaks never lets anything through.
 */

import { APPROVAL_LASTS_MS, type Approval } from '../domain/approval.ts'
import type { Call, CallResult } from '../domain/decision.ts'
import { asTirelessError } from '../domain/error.ts'
import { callKeyOf } from '../domain/unknown.ts'
import { iso } from '../ports/clock.ts'
import type { Clearance, Gate } from '../ports/gate.ts'
import { digestOf } from './approved.ts'
import { askPlugin, askPluginLater } from './ask-plugin.ts'
import { clearancePort, reasonPort } from './return-shapes.ts'
import { auditOf, type Ruled, ruledBy, sinksOf } from './ruled.ts'
import { type Run, record } from './run.ts'
import type { OpenTurn } from './thread.ts'

/** More open approvals than this of one session nobody looks through. */
const MANY = 1000

/** A call as gates have left it. */
export interface ClearedCall extends Call {
  readonly held?: Held
}

/** What it is told instead of being run, and the question that is put to people with it. */
export interface Held {
  readonly result: CallResult
  readonly approval?: Approval
}

/** Contract: whoever settles what is held back lists its approval in the same commit; what was ruled, and why, goes with the next one. */
export async function gate(run: Run, open: OpenTurn, calls: readonly Call[]): Promise<readonly ClearedCall[]> {
  const fresh = calls.flatMap((call, index) =>
    open.intended.has(index) || open.settled.has(index) || call.fault !== undefined ? [] : [{ index, call }],
  )
  const { replaying } = run.engine
  const fixed = replaying?.intent()
  if (fixed) record(run, fixed)
  // Whoever is interrupted begins nothing more.
  const held = replaying || run.signal.aborted ? new Map<number, Held>() : await judged(run, open, fresh)
  return calls.map((call, index) => {
    const result = replaying?.held(index)
    const its = result ? { result } : held.get(index)
    return its && !run.signal.aborted ? { ...call, held: its } : call
  })
}

interface Fresh {
  readonly index: number
  readonly call: Call
}

async function judged(run: Run, open: OpenTurn, fresh: readonly Fresh[]): Promise<ReadonlyMap<number, Held>> {
  const cleared: (Fresh & Ruled)[] = []
  for (const { index, call } of fresh) {
    const ruled = await clearanceOf(run, open.turn, call)
    run.alongside.push(auditOf(run, { turn: open.turn, index }, call, ruled))
    cleared.push({ index, call, ...ruled })
  }
  const waits = cleared.some(({ clearance }) => clearance.kind === 'ask')
  const listed = waits ? await listedIn(run) : []
  const held = new Map<number, Held>()
  for (const { index, call, clearance, destinations } of cleared) {
    if (clearance.kind === 'deny') held.set(index, { result: denied(clearance.reason) })
    else if (clearance.kind === 'ask') {
      const approval = approvalOf(run, { turn: open.turn, index }, call, clearance.reason, destinations)
      const known = listed.find(({ digest }) => digest === approval.digest)
      listed.push(approval)
      held.set(index, known ? { result: askedBefore(known) } : { result: parked(approval), approval })
    } else if (waits) held.set(index, { result: BESIDE })
  }
  return held
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const

/** The strictest word of policy, the tool and every gate. What a person has allowed needs nobody else's leave, unless somebody forbids it by now. */
async function clearanceOf(run: Run, turn: number, call: Call): Promise<Ruled> {
  const { clearance, destinations } = await ruledBy(run, turn, call)
  const wish = wishOf(run, call)
  let strictest = wish.kind !== 'allow' && STRICTNESS[wish.kind] >= STRICTNESS[clearance.kind] ? wish : clearance
  for (const gate of run.engine.gates()) {
    const clearance = await run.leaving.or(
      () => clearanceFrom(run, gate, call),
      () => LEFT_BEHIND,
    )
    if (STRICTNESS[clearance.kind] > STRICTNESS[strictest.kind]) strictest = clearance
  }
  const isAllowed = strictest.kind === 'ask' && call.approval !== undefined
  return { clearance: isAllowed ? { kind: 'allow', reason: 'a person has allowed it' } : strictest, destinations }
}

/** The tool's own. */
function wishOf({ toolbox }: Run, { tool, args }: Call): Clearance {
  const known = toolbox.get(tool)
  try {
    const refusal = askPlugin(reasonPort(tool, 'refuses'), () => known?.refuses?.(args as never))
    if (refusal !== undefined) return { kind: 'deny', reason: refusal }
    const reason = askPlugin(reasonPort(tool, 'asks'), () => known?.asks?.(args as never))
    return reason === undefined ? { kind: 'allow' } : { kind: 'ask', reason }
  } catch (thrown) {
    return { kind: 'ask', reason: `${tool} could not say whether to ask: ${asTirelessError(thrown).message}` }
  }
}

async function clearanceFrom({ dispatch }: Run, gate: Gate, { tool, args, effect }: Call): Promise<Clearance> {
  const { session_id, agent_id } = dispatch
  try {
    const call = { tool, args, effect, session_id, agent_id }
    return await askPluginLater(clearancePort(gate.name), () => gate.judge(call))
  } catch (thrown) {
    return { kind: 'ask', reason: `the gate ${gate.name} failed: ${asTirelessError(thrown).message}` }
  }
}

const LEFT_BEHIND: Clearance = { kind: 'ask', reason: 'the run was interrupted while a gate was asked' }

async function listedIn({ engine, dispatch }: Run): Promise<Approval[]> {
  const { session_id } = dispatch
  return [...(await engine.store.approvals({ session_id, status: 'open', limit: MANY }))]
}

function approvalOf(
  run: Run,
  at: { readonly turn: number; readonly index: number },
  { tool, args, effect }: Call,
  reason: string,
  destinations: readonly string[],
): Approval {
  const { session_id, dispatch_id } = run.dispatch
  const now = run.engine.clock.now()
  const bound = { session_id, tool, args }
  return {
    id: callKeyOf(session_id, at),
    ...bound,
    effect,
    sinks: sinksOf(run, destinations),
    digest: digestOf(bound),
    reason,
    origin: { run_id: dispatch_id, step: run.thread.turns + 1 },
    asked_at: iso(now),
    expires_at: iso(now + APPROVAL_LASTS_MS),
    status: 'open',
    answered_at: null,
    answer_reason: null,
  }
}

/** `held`: how a replay knows what was held back by a gate. */
const FACTS = { held: true }

function parked({ id, reason, expires_at }: Approval): CallResult {
  const next = 'do something else, or wait; the answer comes by itself, and with it the result'
  const content = JSON.stringify({ parked: true, id, reason, expires_at, next })
  return { status: 'parked', content, facts: { ...FACTS, approval: id } }
}

/** Held back like any call that leads nowhere: one question is enough for people, and who goes on asking is stuck. */
function askedBefore({ id, expires_at }: Approval): CallResult {
  const next = 'this very call waits for its answer already; do something else, or wait'
  return { status: 'blocked', content: JSON.stringify({ parked: true, id, expires_at, next }), facts: FACTS }
}

const BESIDE: CallResult = {
  status: 'not_started',
  content: 'not run, because a call beside it has to be allowed first; call it again if it is still wanted',
  facts: FACTS,
}

const denied = (reason: string): CallResult => ({ status: 'error', content: `denied: ${reason}`, facts: FACTS })
