/**
 * ACT: runs the decided calls in order, if the gates allow them. Adjacent calls without side effects run in parallel.
 * The intent is on disk before a tool starts; the result goes into the next commit.
 * Must not know: what a tool does. recover-call.ts handles a call that a crash left open.
 * Invariants: I4 (no call silently runs twice); case 97 (without a written intent, no tool runs).
 */

import { approvalAnswerObservation } from '../../domain/approval.ts'
import type { Call, CallResult, Decision } from '../../domain/decision.ts'
import { writesWorkspace } from '../../domain/effect.ts'
import { TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import type { Op } from '../../ports/store.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { interruptionReason, NOT_STARTED_INTERRUPTED } from '../abort-reason.ts'
import { createToolContext, executeCall, failedResult } from '../calls/execute-call.ts'
import { type CheckedCall, checkGates } from '../calls/gate.ts'
import { copyPlainReturn } from '../plugins/ask-plugin.ts'
import { appendRecord, flushRecords, type Run, sendDelta } from '../run.ts'
import { addRepetitionWarning, blockRepetition } from '../session/repetition-guard.ts'
import type { IntendedCall, OpenTurn } from '../session/session-thread.ts'
import { withSnapshots } from '../snapshot-workspace.ts'
import { withWorkspaceLock } from '../workspace-lock.ts'

/** Maximum number of calls without side effects that run in parallel. */
const MAX_PARALLEL = 4

export async function act(run: Run, open: OpenTurn, decision: Decision): Promise<readonly CallResult[]> {
  switch (decision.kind) {
    case 'act':
      return gateAndRun(run, open, decision.calls, decision.failFast ?? false)
    case 'wait':
      if (decision.via) await runWaitCall(run, open, decision.via, decision.reason)
      return []
    case 'final':
      if (decision.via)
        settleCall(run, open, 0, decision.via, { status: 'ok', content: loadPrompt('results/decision.md#finished') })
      return []
    default:
      throw new TirelessError('internal', `a decision of kind ${decision.kind} cannot be executed`)
  }
}

/**
 * `via`: the call that starts the wait. If it has a side effect, such as a question to the owner, it runs as an
 * ordinary call.
 */
async function runWaitCall(run: Run, open: OpenTurn, via: Call, reason: string): Promise<void> {
  if (via.effect.recovery !== 'pure') await gateAndRun(run, open, [via], false)
  else settleCall(run, open, 0, via, { status: 'ok', content: loadPrompt('results/decision.md#waiting', { reason }) })
}

async function gateAndRun(
  run: Run,
  open: OpenTurn,
  requested: readonly Call[],
  failFast: boolean,
): Promise<readonly CallResult[]> {
  const calls = await checkGates(run, open, requested)
  return withSnapshots(run, open, calls, () => runAll(run, open, calls, failFast))
}

async function runAll(
  run: Run,
  open: OpenTurn,
  calls: readonly CheckedCall[],
  failFast: boolean,
): Promise<readonly CallResult[]> {
  const results: CallResult[] = []
  for (let from = 0; from < calls.length; ) {
    const group = nextGroup(open, calls, from)
    if (failFast && results.some(({ status }) => status !== 'ok')) {
      const skipped = {
        status: 'not_started',
        content: loadPrompt('results/failed-call.md#earlier_call_failed'),
      } as const
      for (const [i, call] of group.entries()) results.push(settleCall(run, open, from + i, call, skipped))
    } else results.push(...(await runGroup(run, open, group, from)))
    from += group.length
  }
  return results
}

/**
 * The calls to run next: one call, or several adjacent calls that may run in parallel (no side effects, no approval,
 * not started).
 */
function nextGroup(open: OpenTurn, calls: readonly CheckedCall[], from: number): readonly CheckedCall[] {
  const runsAlone = (index: number): boolean =>
    calls[index]?.effect.recovery !== 'pure' ||
    calls[index]?.approval !== undefined ||
    open.intended.has(index) ||
    open.settled.has(index)
  let upto = from + 1
  if (!runsAlone(from)) while (upto < calls.length && upto - from < MAX_PARALLEL && !runsAlone(upto)) upto += 1
  return calls.slice(from, upto)
}

async function runGroup(
  run: Run,
  open: OpenTurn,
  calls: readonly CheckedCall[],
  from: number,
): Promise<readonly CallResult[]> {
  const prepared: PreparedCall[] = []
  for (const [i, call] of calls.entries()) prepared.push(await prepareCall(run, open, from + i, call))
  if (prepared.some(({ intended }) => intended)) await flushRecords(run, [])
  const done = await Promise.all(prepared.map((call) => call.run()))
  return done.map((result, i) => settleCall(run, open, from + i, calls[i] as CheckedCall, result))
}

interface PreparedCall {
  /** Whether an intent was recorded. It must be on disk before the call runs. */
  readonly intended: boolean
  run(): CallResult | Promise<CallResult>
}

const withResult = (result: CallResult): PreparedCall => ({ intended: false, run: () => result })

async function prepareCall(run: Run, open: OpenTurn, index: number, call: CheckedCall): Promise<PreparedCall> {
  const settled = open.settled.get(index)
  if (settled) return withResult(settled)
  const interrupted = open.intended.get(index)
  if (interrupted) {
    const recover = async () => run.engine.sources.recovery.recoverCall(run, interrupted, '')
    return { intended: false, run: () => withLock(run, interrupted, recover) }
  }
  const refusal = findRefusal(run, call)
  if (refusal) return withResult(refusal)
  const tool = requireTool(run, call)
  const held = blockRepetition(run.thread.recent, run.toolbox, call)
  if (held) return withResult(held)
  const at = { turn: open.turn, index, ts: run.engine.clock.now() }
  let before: Json | undefined
  let filled: true | undefined
  try {
    const fill = await run.engine.sources.calls.fillPlaceholders(run, tool, index, call)
    if (fill.filled) filled = true
    const context = createToolContext(run, tool, { ...at, ...(filled && { filled }) }, run.signal)
    const callBefore = tool.before?.bind(tool, fill.args as never, context)
    const observed = callBefore && (await run.grace.race(callBefore, abortedInBefore))
    const method = { who: `tool ${call.tool}`, method: 'before' }
    before = observed === undefined ? undefined : copyPlainReturn(method, observed, 'tool_failed')
  } catch (thrown) {
    return withResult(failedResult(thrown, run.signal))
  }
  const { id, args, effect, timeoutMs } = call
  const intent = appendRecord(run, {
    kind: 'call_intended',
    turn: open.turn,
    index,
    attempt: 1,
    call: { id, tool: call.tool, args, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
    effect,
    ...(before === undefined ? {} : { before }),
    ...(filled && { filled }),
  }) as IntendedCall
  sendDelta(run, { kind: 'call', index, tool: call.tool, args })
  run.engine.sources.calls.taintWorkspace(run, intent)
  return { intended: true, run: () => withLock(run, intent, () => executeOrRecover(run, tool, intent)) }
}

/** No sub-agent's work is merged into the workspace while a call writes to it. */
const withLock = (run: Run, { effect }: IntendedCall, work: () => Promise<CallResult>): Promise<CallResult> =>
  writesWorkspace(effect) ? withWorkspaceLock(run.engine.store, run.workspace.folder, work) : work()

/** If the tool reports that the outcome is unknown, the call is treated like a call that a crash interrupted. */
async function executeOrRecover(run: Run, tool: AnyTool, intended: IntendedCall): Promise<CallResult> {
  const result = await executeCall(run, tool, intended)
  return result.status === 'unknown' ? run.engine.sources.recovery.recoverCall(run, intended, result.content) : result
}

function settleCall(run: Run, open: OpenTurn, index: number, call: CheckedCall, result: CallResult): CallResult {
  const settled = open.settled.get(index)
  if (settled) return settled
  // Warnings about repeated calls are added in call order, so that parallel calls count like sequential calls.
  const shownResult =
    open.intended.has(index) && result.status !== 'not_started'
      ? addRepetitionWarning(run.thread.recent, run.toolbox, { tool: call.tool, args: call.args, result })
      : result
  const labels = run.engine.sources.calls.labelResult(run, open, index, result)
  appendRecord(run, { kind: 'call_settled', turn: open.turn, index, call_id: call.id, result: shownResult, ...labels })
  const { approval } = call.held?.result === result ? call.held : {}
  if (approval) run.pendingOps.push({ op: 'ask', approval })
  if (
    call.approval !== undefined &&
    result === NOT_STARTED_INTERRUPTED &&
    interruptionReason(run.signal) === 'stopping'
  )
    run.pendingOps.push(repeatApproval(run, open.turn, call.approval, call.tool))
  sendDelta(run, { kind: 'result', index, tool: call.tool, status: shownResult.status, content: shownResult.content })
  return shownResult
}

/** Publishes the approval again: the program stopped before the allowed call started, so the next process runs it. */
function repeatApproval({ engine, dispatch }: Run, turn: number, id: string, tool: string): Op {
  const now = engine.clock.now()
  const observation = approvalAnswerObservation({ id, tool }, 'allowed', null, now)
  return {
    op: 'publish',
    session_id: dispatch.session_id,
    observation: { ...observation, id: `${observation.id}-${turn}` },
    successor_id: engine.ids.next(),
    now,
  }
}

function findRefusal(run: Run, call: CheckedCall): CallResult | undefined {
  if (call.fault !== undefined) return { status: 'error', content: call.fault }
  if (call.held) return call.held.result
  // An approval is valid once. Stop here without using it, so that the next process runs the call.
  if (call.approval !== undefined && interruptionReason(run.signal) === 'stopping')
    throw new TirelessError('aborted', 'the program is stopping; the allowed call runs after the restart')
  return run.signal.aborted ? NOT_STARTED_INTERRUPTED : undefined
}

function requireTool(run: Run, call: CheckedCall): AnyTool {
  const tool = run.toolbox.get(call.tool)
  if (!tool) throw new TirelessError('not_found', `there is no tool ${call.tool}`)
  return tool
}

function abortedInBefore(): never {
  throw new TirelessError('aborted', "the run was interrupted during the tool's before()")
}
