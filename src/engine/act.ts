/**
 * ACT: runs the decided calls in order, as far as gates let them through; neighbours that change nothing run side by side. The intent is on
 * disk before the hand moves; the result goes with the next commit.
 * Must not know: what a tool does. A call that an earlier life of the program left open goes to recover.ts.
 * Invariants: I4 (never silently twice); case 97 (an intent that cannot be written runs nothing).
 */

import { answerObservation } from '../domain/approval.ts'
import type { Call, CallResult, Decision } from '../domain/decision.ts'
import { TirelessError } from '../domain/error.ts'
import { copyJson, type Json } from '../domain/json.ts'
import type { Op } from '../ports/store.ts'
import type { AnyTool } from '../ports/tool.ts'
import { plainReturn } from './ask-plugin.ts'
import { contextOf, execute, failureOf } from './execute.ts'
import { type ClearedCall, gate } from './gate.ts'
import { INTERRUPTED_BEFORE, whyInterrupted } from './interruption.ts'
import { stain, worthOf } from './labels.ts'
import { recoverCall } from './recover.ts'
import { heldBack, withWarning } from './repeats.ts'
import { flush, type Run, record, say } from './run.ts'
import { withSnapshots } from './snapshot-workspace.ts'
import type { Intended, OpenTurn } from './thread.ts'

/** Calls that change nothing and stand side by side: so many at once. */
const SIDE_BY_SIDE = 4

export async function act(run: Run, open: OpenTurn, decision: Decision): Promise<readonly CallResult[]> {
  switch (decision.kind) {
    case 'act':
      return perform(run, open, decision.calls, decision.failFast ?? false)
    case 'wait':
      if (decision.via) await beforeWaiting(run, open, decision.via, decision.reason)
      return []
    case 'final':
      if (decision.via) settle(run, open, 0, decision.via, { status: 'ok', content: 'finished' })
      return []
    default:
      throw new TirelessError('internal', `nothing can be done about a decision of kind ${decision.kind}`)
  }
}

/** Where there is something to be done first (to ask somebody), it is a call like any other. */
async function beforeWaiting(run: Run, open: OpenTurn, via: Call, reason: string): Promise<void> {
  if (via.effect.recovery !== 'pure') await perform(run, open, [via], false)
  else settle(run, open, 0, via, { status: 'ok', content: `waiting for ${reason}; what comes follows` })
}

async function perform(
  run: Run,
  open: OpenTurn,
  asked: readonly Call[],
  failFast: boolean,
): Promise<readonly CallResult[]> {
  const calls = await gate(run, open, asked)
  return withSnapshots(run, open, calls, () => performAll(run, open, calls, failFast))
}

async function performAll(
  run: Run,
  open: OpenTurn,
  calls: readonly ClearedCall[],
  failFast: boolean,
): Promise<readonly CallResult[]> {
  const results: CallResult[] = []
  for (let from = 0; from < calls.length; ) {
    const group = groupFrom(open, calls, from)
    if (failFast && results.some(({ status }) => status !== 'ok')) {
      const left = { status: 'not_started', content: 'not started, because a call before it did not succeed' } as const
      for (const [i, call] of group.entries()) results.push(settle(run, open, from + i, call, left))
    } else results.push(...(await performGroup(run, open, group, from)))
    from += group.length
  }
  return results
}

/** One call, or several neighbours that change nothing, need nobody's leave and have not begun. */
function groupFrom(open: OpenTurn, calls: readonly ClearedCall[], from: number): readonly ClearedCall[] {
  const alone = (index: number): boolean =>
    calls[index]?.effect.recovery !== 'pure' ||
    calls[index]?.approval !== undefined ||
    open.intended.has(index) ||
    open.settled.has(index)
  let upto = from + 1
  if (!alone(from)) while (upto < calls.length && upto - from < SIDE_BY_SIDE && !alone(upto)) upto += 1
  return calls.slice(from, upto)
}

async function performGroup(
  run: Run,
  open: OpenTurn,
  calls: readonly ClearedCall[],
  from: number,
): Promise<readonly CallResult[]> {
  const prepared: Prepared[] = []
  for (const [i, call] of calls.entries()) prepared.push(await prepare(run, open, from + i, call))
  if (prepared.some(({ intended }) => intended)) await flush(run, [])
  const done = await Promise.all(prepared.map((call) => call.run()))
  return done.map((result, i) => settle(run, open, from + i, calls[i] as ClearedCall, result))
}

interface Prepared {
  /** Its intent was recorded, and has to be on disk before it runs. */
  readonly intended: boolean
  run(): CallResult | Promise<CallResult>
}

const known = (result: CallResult): Prepared => ({ intended: false, run: () => result })

async function prepare(run: Run, open: OpenTurn, index: number, call: ClearedCall): Promise<Prepared> {
  const settled = open.settled.get(index)
  if (settled) return known(settled)
  const interrupted = open.intended.get(index)
  if (interrupted) return { intended: false, run: () => recoverCall(run, interrupted) }
  const refusal = refusalOf(run, call)
  if (refusal) return known(refusal)
  const tool = toolOf(run, call)
  const held = heldBack(run.thread.recent, run.toolbox, call)
  if (held) return known(held)
  const at = { turn: open.turn, index, ts: run.engine.clock.now() }
  let before: Json | undefined
  try {
    const look = tool.before?.bind(tool, copyJson(call.args) as never, contextOf(run, at, run.signal))
    const noted = look && (await run.leaving.or(look, leftBehind))
    const method = { who: `tool ${call.tool}`, method: 'before' }
    before = noted === undefined ? undefined : plainReturn(method, noted, 'tool_failed')
  } catch (thrown) {
    return known(failureOf(thrown, run.signal))
  }
  const { id, args, effect, timeoutMs } = call
  const made = record(run, {
    kind: 'call_intended',
    turn: open.turn,
    index,
    attempt: 1,
    call: { id, tool: call.tool, args, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
    effect,
    ...(before === undefined ? {} : { before }),
  }) as Intended
  say(run, { kind: 'call', index, tool: call.tool, args })
  stain(run, made)
  return { intended: true, run: () => executed(run, tool, made) }
}

/** A tool that cannot say what became of its call has been interrupted like one that died with the program. */
async function executed(run: Run, tool: AnyTool, intended: Intended): Promise<CallResult> {
  const result = await execute(run, tool, intended)
  return result.status === 'unknown' ? recoverCall(run, intended, result.content) : result
}

function settle(run: Run, open: OpenTurn, index: number, call: ClearedCall, result: CallResult): CallResult {
  const settled = open.settled.get(index)
  if (settled) return settled
  // In the order of the calls, so that those that ran side by side count like any others.
  const told =
    open.intended.has(index) && result.status !== 'not_started'
      ? withWarning(run.thread.recent, run.toolbox, { tool: call.tool, args: call.args, result })
      : result
  const worth = worthOf(run, open, index, result)
  record(run, { kind: 'call_settled', turn: open.turn, index, call_id: call.id, result: told, ...worth })
  const { approval } = call.held?.result === result ? call.held : {}
  if (approval) run.alongside.push({ op: 'ask', approval })
  if (call.approval !== undefined && result === INTERRUPTED_BEFORE && whyInterrupted(run.signal) === 'stopping')
    run.alongside.push(allowedAnew(run, open.turn, call.approval, call.tool))
  say(run, { kind: 'result', index, tool: call.tool, status: told.status, content: told.content })
  return told
}

/** The program stopped while the intent of what was allowed was written: it is told of again, so that the next life does it. */
function allowedAnew({ engine, dispatch }: Run, turn: number, id: string, tool: string): Op {
  const now = engine.clock.now()
  const observation = answerObservation({ id, tool }, 'allowed', null, now)
  return {
    op: 'publish',
    session_id: dispatch.session_id,
    observation: { ...observation, id: `${observation.id}-${turn}` },
    successor_id: engine.ids.next(),
    now,
  }
}

function refusalOf(run: Run, call: ClearedCall): CallResult | undefined {
  if (call.fault !== undefined) return { status: 'error', content: call.fault }
  if (call.held) return call.held.result
  // It was allowed once and cannot be asked for again: the next life of the program does it.
  if (call.approval !== undefined && whyInterrupted(run.signal) === 'stopping')
    throw new TirelessError('aborted', 'the program stops; what was allowed is done when it is back')
  return run.signal.aborted ? INTERRUPTED_BEFORE : undefined
}

function toolOf(run: Run, call: ClearedCall): AnyTool {
  const tool = run.toolbox.get(call.tool)
  if (!tool) throw new TirelessError('not_found', `there is no tool ${call.tool}`)
  return tool
}

function leftBehind(): never {
  throw new TirelessError('aborted', 'the run was interrupted while a tool looked before it acts')
}
