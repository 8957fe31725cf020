/**
 * ACT: runs the decided calls in order. The intent is on disk before the hand moves; the result goes with the next commit.
 * Must not know: what a tool does. A call that an earlier life of the program left open goes to recover.ts.
 * Invariants: I4 (never silently twice); case 97 (an intent that cannot be written runs nothing).
 */

import type { Call, CallResult, Decision } from '../domain/decision.ts'
import { assertNever, TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import type { AnyTool } from '../ports/tool.ts'
import { contextOf, execute, failureOf } from './execute.ts'
import { recoverCall } from './recover.ts'
import { flush, type Run, record } from './run.ts'
import type { Intended, OpenTurn } from './thread.ts'

export async function act(
  run: Run,
  open: OpenTurn,
  decision: Decision,
  signal: AbortSignal,
): Promise<readonly CallResult[]> {
  switch (decision.kind) {
    case 'act': {
      const results: CallResult[] = []
      for (const [index, call] of decision.calls.entries()) results.push(await perform(run, open, index, call, signal))
      return results
    }
    case 'invalid':
      return decision.calls.map((call, index) => settle(run, open, index, call, refusalOf(call, decision.feedback)))
    case 'wait':
      if (decision.via)
        settle(run, open, 0, decision.via, {
          status: 'ok',
          content: `waiting for ${decision.reason}; what comes follows`,
        })
      return []
    case 'final':
      if (decision.via) settle(run, open, 0, decision.via, { status: 'ok', content: 'finished' })
      return []
    default:
      return assertNever(decision)
  }
}

async function perform(run: Run, open: OpenTurn, index: number, call: Call, signal: AbortSignal): Promise<CallResult> {
  const settled = open.settled.get(index)
  if (settled) return settled
  const intended = open.intended.get(index)
  const result = intended ? await recoverCall(run, intended, signal) : await attempt(run, open, index, call, signal)
  return settle(run, open, index, call, result)
}

async function attempt(run: Run, open: OpenTurn, index: number, call: Call, signal: AbortSignal): Promise<CallResult> {
  if (call.fault !== undefined) return refusalOf(call, '')
  if (signal.aborted) return { status: 'not_started', content: 'the runtime was stopping' }
  const tool = toolOf(run, call)
  const at = { turn: open.turn, index, ts: run.engine.clock.now() }
  let before: Json | undefined
  try {
    before = await tool.before?.(call.args as never, contextOf(run, at, signal))
  } catch (thrown) {
    return failureOf(thrown, signal)
  }
  const { id, args } = call
  record(run, {
    kind: 'call_intended',
    turn: open.turn,
    index,
    attempt: 1,
    call: { id, tool: call.tool, args },
    effect: call.effect,
    ...(before === undefined ? {} : { before }),
  })
  await flush(run, [])
  return execute(run, tool, open.intended.get(index) as Intended, signal)
}

function settle(run: Run, open: OpenTurn, index: number, call: Call, result: CallResult): CallResult {
  const settled = open.settled.get(index)
  if (settled) return settled
  record(run, { kind: 'call_settled', turn: open.turn, index, call_id: call.id, result })
  return result
}

function refusalOf(call: Call, feedback: string): CallResult {
  return { status: 'error', content: call.fault ?? feedback }
}

function toolOf(run: Run, call: Call): AnyTool {
  const tool = run.toolbox.get(call.tool)
  if (!tool) throw new TirelessError('not_found', `there is no tool ${call.tool}`)
  return tool
}
