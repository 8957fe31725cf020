/**
 * Gates: checks every call of a step before any of them runs. If one call needs approval, all calls of the step are
 * held back.
 * Must not know: who answers an approval, and when. The answer arrives as input, see approved-calls.ts.
 * Invariants: case 55 (if one call is held back, no call of the step has started); a failing gate never allows a call.
 */

import { APPROVAL_TTL_MS, type Approval } from '../../domain/approval.ts'
import type { Call, CallResult } from '../../domain/decision.ts'
import { writesWorkspace } from '../../domain/effect.ts'
import { asTirelessError } from '../../domain/error.ts'
import { readSpawnedBy } from '../../domain/sub-agent.ts'
import { callKeyOf } from '../../domain/unknown-outcome.ts'
import { iso } from '../../ports/clock.ts'
import type { Gate, GateVerdict } from '../../ports/gate.ts'
import { fenceUntrusted, nonceOf } from '../../prompt-compiler/data-fence.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { askPlugin, askPluginAsync } from '../plugins/ask-plugin.ts'
import { gateVerdictPort } from '../plugins/return-shapes.ts'
import { reasonPort } from '../plugins/tool-shapes.ts'
import type { Run } from '../run.ts'
import type { OpenTurn } from '../session/session-thread.ts'
import { approvalDigest } from './approved-calls.ts'
import { fillPlaceholders } from './fill-placeholders.ts'
import { checkPolicy, createAuditOp, type PolicyVerdict, traceDestinations } from './policy-check.ts'

/** Maximum number of open approvals of a session that are searched for a duplicate. */
const MAX_OPEN_APPROVALS = 1000

/** A call after the gates have checked it. With `held`, it must not run. */
export interface CheckedCall extends Call {
  readonly held?: HeldCall
}

/** The result of a call that does not run, and the approval to request. */
interface HeldCall {
  readonly result: CallResult
  readonly approval?: Approval
}

/** Contract: the caller must commit a held call's result together with its approval. Audit entries join that commit. */
export async function checkGates(run: Run, open: OpenTurn, calls: readonly Call[]): Promise<readonly CheckedCall[]> {
  const held = await run.engine.sources.calls.findHeldCalls(run, open, calls)
  return calls.map((call, index) => {
    const holding = held.get(index)
    return holding && !run.signal.aborted ? { ...call, held: holding } : call
  })
}

/** Held calls by their index. */
export type HeldCalls = ReadonlyMap<number, HeldCall>

/** Asks policy, tools and gates. An interrupted run starts no further call, so it asks nothing. */
export async function findHeldCalls(run: Run, open: OpenTurn, calls: readonly Call[]): Promise<HeldCalls> {
  if (run.signal.aborted) return new Map()
  const newCalls = calls.flatMap((call, index) =>
    open.intended.has(index) || open.settled.has(index) || call.fault !== undefined ? [] : [{ index, call }],
  )
  return gateCalls(run, open, newCalls)
}

interface NewCall {
  readonly index: number
  readonly call: Call
}

async function gateCalls(run: Run, open: OpenTurn, newCalls: readonly NewCall[]): Promise<HeldCalls> {
  const verdicts: (NewCall & PolicyVerdict)[] = []
  for (const { index, call } of newCalls) {
    const ruled = await strictestVerdict(run, open.turn, call)
    run.pendingOps.push(createAuditOp(run, { turn: open.turn, index }, call, ruled))
    verdicts.push({ index, call, ...ruled })
  }
  const needsApproval = verdicts.some(({ verdict: clearance }) => clearance.kind === 'ask')
  const approvals = needsApproval ? await openApprovals(run) : []
  const held = new Map<number, HeldCall>()
  for (const { index, call, verdict: clearance, destinations } of verdicts) {
    if (clearance.kind === 'deny') {
      const nonce = nonceOf(open.answeredAt, open.turn, index, clearance.reason)
      held.set(index, { result: deniedResult(clearance, nonce) })
    } else if (clearance.kind === 'ask') {
      const approval = newApproval(run, { turn: open.turn, index }, call, clearance.reason, destinations)
      const known = approvals.find(({ digest }) => digest === approval.digest)
      approvals.push(approval)
      held.set(
        index,
        known ? { result: alreadyAskedResult(known) } : { result: parkedResult(approval, clearance), approval },
      )
    } else if (needsApproval) held.set(index, { result: heldWithOthers() })
  }
  return held
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const

/** The strictest verdict of policy, tool and gates. An approval overrides `ask`, but never `deny`. */
async function strictestVerdict(run: Run, turn: number, call: Call): Promise<PolicyVerdict> {
  const { verdict: clearance, destinations } = await checkPolicy(run, turn, call)
  const ownVerdict = await toolVerdict(run, call)
  let strictest =
    ownVerdict.kind !== 'allow' && STRICTNESS[ownVerdict.kind] >= STRICTNESS[clearance.kind] ? ownVerdict : clearance
  for (const gate of run.engine.gates()) {
    const clearance = await run.grace.race(
      () => verdictOfGate(run, gate, call),
      () => GATE_INTERRUPTED,
    )
    if (STRICTNESS[clearance.kind] > STRICTNESS[strictest.kind]) strictest = clearance
  }
  const isAllowed = strictest.kind === 'ask' && call.approval !== undefined
  return { verdict: isAllowed ? { kind: 'allow', reason: 'a person allowed it' } : strictest, destinations }
}

/**
 * The verdict of the tool's own checks, refuses() and asks(). A check that fails counts as `ask`. A call whose
 * placeholders cannot be filled in is denied: nobody is asked to approve it.
 */
async function toolVerdict(run: Run, { tool, args, effect }: Call): Promise<GateVerdict> {
  const known = run.toolbox.get(tool)
  const barred = refuseWrite(run, { tool, effect })
  if (barred !== undefined) return { kind: 'deny', reason: barred }
  try {
    if (known) await fillPlaceholders(run, known, { args, effect })
  } catch (thrown) {
    return { kind: 'deny', reason: asTirelessError(thrown).message }
  }
  try {
    const refusal = askPlugin(reasonPort(tool, 'refuses'), () => known?.refuses?.(args as never))
    if (refusal !== undefined) return { kind: 'deny', reason: refusal }
    const reason = askPlugin(reasonPort(tool, 'asks'), () => known?.asks?.(args as never))
    return reason === undefined ? { kind: 'allow' } : { kind: 'ask', reason }
  } catch (thrown) {
    return { kind: 'ask', reason: `${tool} failed to check the call: ${asTirelessError(thrown).message}` }
  }
}

/**
 * Why the behaviour may not make this call. A behaviour without write access gets an environment that cannot change the
 * workspace, so that commands cannot either; what acts outside of the environment must not change anything at all.
 */
function refuseWrite({ behaviour, toolbox }: Run, { tool, effect }: Pick<Call, 'tool' | 'effect'>): string | undefined {
  const { access = 'write', name } = behaviour
  if (access === 'write') return undefined
  const { outside: isOutside = false, runsCommands = false } = toolbox.get(tool) ?? {}
  const changesOutside = isOutside && effect.recovery !== 'pure'
  const writes = writesWorkspace(effect) && (isOutside || (access === 'read_only' && !runsCommands))
  return changesOutside || writes ? loadPrompt('results/held-call.md#read_only', { behaviour: name, tool }) : undefined
}

async function verdictOfGate({ dispatch }: Run, gate: Gate, { tool, args, effect }: Call): Promise<GateVerdict> {
  const { session_id, agent_id } = dispatch
  try {
    const call = { tool, args, effect, session_id, agent_id }
    const verdict = await askPluginAsync(gateVerdictPort(gate.name), () => gate.judge(call))
    if (verdict.kind === 'allow' || !isOutside(verdict)) return verdict
    return { ...verdict, reason: `the gate ${gate.name} says: ${verdict.reason}` }
  } catch (thrown) {
    return { kind: 'ask', reason: `the gate ${gate.name} failed: ${asTirelessError(thrown).message}` }
  }
}

/** A verdict that holds a call back. */
type Refusal = Exclude<GateVerdict, { kind: 'allow' }>

const isOutside = ({ label }: Refusal): boolean => label?.trust === 'untrusted'

const GATE_INTERRUPTED: GateVerdict = { kind: 'ask', reason: 'the run was interrupted while a gate checked the call' }

async function openApprovals({ engine, dispatch }: Run): Promise<Approval[]> {
  const { session_id } = dispatch
  return [...(await engine.store.approvals({ session_id, status: 'open', limit: MAX_OPEN_APPROVALS }))]
}

function newApproval(
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
    sinks: traceDestinations(run, destinations),
    digest: approvalDigest(bound),
    reason: nameParent(run, reason),
    origin: { run_id: dispatch_id, step: run.thread.turns + 1 },
    asked_at: iso(now),
    expires_at: iso(now + APPROVAL_TTL_MS),
    status: 'open',
    answered_at: null,
    answer_reason: null,
  }
}

/** The request of a sub-agent says for whom it works. */
function nameParent({ dispatch }: Run, reason: string): string {
  const above = readSpawnedBy(dispatch.metadata)
  return above ? `${reason} (sub-agent ${dispatch.agent_id}, spawned by ${above.agents[0]}, run ${above.run})` : reason
}

/** A replay recognises the results of held calls by this fact. */
const HELD_FACTS = { held: true }

const heldFacts = ({ label }: Refusal) => ({ ...HELD_FACTS, ...(label && { label: { ...label } }) })

/** The reason of an untrusted gate is for the owner: the model does not need it to wait. */
function parkedResult({ id, reason, expires_at }: Approval, refusal: Refusal): CallResult {
  const next = loadPrompt('results/held-call.md#needs_approval')
  const shown = isOutside(refusal) ? loadPrompt('results/held-call.md#gate_asks') : reason
  const content = JSON.stringify({ parked: true, id, reason: shown, expires_at, next })
  return { status: 'parked', content, facts: { ...heldFacts(refusal), approval: id } }
}

/**
 * A repeated request for the same approval is blocked: people are asked once, and a run that keeps repeating the
 * request counts as stuck.
 */
function alreadyAskedResult({ id, expires_at }: Approval): CallResult {
  const next = loadPrompt('results/held-call.md#already_requested')
  return { status: 'blocked', content: JSON.stringify({ parked: true, id, expires_at, next }), facts: HELD_FACTS }
}

const heldWithOthers = (): CallResult => ({
  status: 'not_started',
  content: loadPrompt('results/held-call.md#other_call_needs_approval'),
  facts: HELD_FACTS,
})

const deniedResult = (refusal: Refusal, nonce: string): CallResult => ({
  status: 'error',
  content: isOutside(refusal)
    ? loadPrompt('results/held-call.md#denied_by_gate', { reason: fenceUntrusted('gate', refusal.reason, nonce) })
    : loadPrompt('results/held-call.md#denied', { reason: refusal.reason }),
  facts: heldFacts(refusal),
})
