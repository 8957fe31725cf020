/**
 * Recovers a call that started but has no result, usually after a crash. Its declared effect decides what follows.
 * Invariants: pure and idempotent calls run again with the same key; reconcilable calls are probed; `once` calls never
 * run again automatically: the model is told if it can check the outcome itself, otherwise a person is asked.
 */

import type { CallResult } from '../../domain/decision.ts'
import { afterCrash, unknownOutcomeAction } from '../../domain/effect.ts'
import { assertNever, asTirelessError, TirelessError } from '../../domain/error.ts'
import { copyJson } from '../../domain/json.ts'
import type { Resolution, UnknownOutcome, UnknownStatus } from '../../domain/unknown-outcome.ts'
import type { AnyTool, ProbeResult } from '../../ports/tool.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { checkReturn, invalidReturnError } from '../plugins/ask-plugin.ts'
import { remainsPort } from '../plugins/tool-shapes.ts'
import { appendRecord, flushRecords, type Run } from '../run.ts'
import type { IntendedCall } from '../session/session-thread.ts'
import { Suspended } from '../suspended.ts'
import { checkToolResult, createToolContext, executeCall } from './execute-call.ts'
import { findUnknownOutcome, newUnknownOutcome } from './unknown-outcome.ts'

/**
 * `tool`: the installed tool. `offered`: the same tool if the run may still call it. Without `offered` the call does
 * not run again, but `tool` can still report the output so far.
 */
interface InterruptedCall {
  readonly run: Run
  readonly intended: IntendedCall
  readonly tool: AnyTool | undefined
  readonly offered: AnyTool | undefined
  /** The tool's own message, if the tool reported the unknown outcome. */
  readonly toolMessage: string
}

export async function recoverCall(run: Run, intended: IntendedCall, toolMessage: string): Promise<CallResult> {
  const { tool: name } = intended.call
  const call = { run, intended, tool: run.engine.tools.get(name), offered: run.toolbox.get(name), toolMessage }
  const plan = call.offered ? afterCrash(intended.effect) : unknownOutcomeAction(intended.effect)
  switch (plan) {
    case 'rerun':
      return rerun(call)
    case 'probe':
      return handleProbe(call, await probe(call))
    case 'tell_model':
      return tellModel(call)
    case 'ask_human':
      return askHuman(call)
    default:
      return assertNever(plan)
  }
}

/** `why`: the error of a probe that failed. */
type ProbeOutcome = ProbeResult & { readonly why?: string }

function handleProbe(probed: InterruptedCall, outcome: ProbeOutcome): Promise<CallResult> | CallResult {
  const call =
    outcome.why === undefined ? probed : { ...probed, toolMessage: joinLines(probed.toolMessage, outcome.why) }
  switch (outcome.kind) {
    case 'happened':
      return outcome.result
    case 'not':
      return rerun(call)
    case 'unclear':
      return unknownOutcomeAction(call.intended.effect) === 'tell_model' ? tellModel(call) : askHuman(call)
    default:
      return assertNever(outcome)
  }
}

async function tellModel(call: InterruptedCall): Promise<CallResult> {
  const recorded = await findUnknownOutcome(call.run, call.intended)
  // List the unknown outcome only once: listing it again would discard a person's resolution.
  const { output_so_far } = recorded ?? (await listUnknown(call, 'told_model'))
  return {
    status: 'unknown',
    content: loadPrompt('results/interrupted-call.md#unknown_not_repeated', { output: output_so_far }),
  }
}

async function askHuman(call: InterruptedCall): Promise<CallResult> {
  const recorded = await findUnknownOutcome(call.run, call.intended)
  if (recorded?.resolution) return applyResolution(call, recorded.resolution)
  return waitForResolution(call, recorded ?? (await listUnknown(call, 'open')))
}

function waitForResolution({ intended }: InterruptedCall, { id }: UnknownOutcome): never {
  const reason = `it is unknown whether ${intended.call.tool} took effect. \
Run: tireless unknowns resolve ${id} --as happened|not|recheck`
  throw new Suspended({ kind: 'unknown', unknown_id: id, until: null, reason })
}

async function applyResolution(call: InterruptedCall, resolution: Resolution): Promise<CallResult> {
  switch (resolution) {
    case 'happened':
      return { status: 'ok', content: loadPrompt('results/interrupted-call.md#took_effect') }
    case 'not':
      return runNewAttempt(call)
    case 'recheck': {
      const outcome = await probe(call)
      return outcome.kind === 'unclear'
        ? waitForResolution(call, await listUnknown(call, 'open'))
        : handleProbe(call, outcome)
    }
    default:
      return assertNever(resolution)
  }
}

/** Contract: throws `aborted` if the run was interrupted; the next process then recovers the call. */
function checkNotAborted({ run }: InterruptedCall): void {
  if (run.signal.aborted) throw new TirelessError('aborted', 'the run was interrupted while it recovered a call')
}

/** The owner's resolution concerns one attempt. The next attempt has its own intent and its own outcome. */
async function runNewAttempt(again: InterruptedCall): Promise<CallResult> {
  checkNotAborted(again)
  const { run, intended, offered } = again
  if (!offered) return { status: 'not_started', content: loadPrompt('results/interrupted-call.md#no_effect_tool_gone') }
  const { turn, index, call, effect, filled } = intended
  const next = appendRecord(run, {
    kind: 'call_intended',
    turn,
    index,
    attempt: intended.attempt + 1,
    call,
    effect,
    ...(filled && { filled }),
  })
  await flushRecords(run, [])
  return executeCall(run, offered, next as IntendedCall)
}

function rerun(call: InterruptedCall): Promise<CallResult> | CallResult {
  // Abort instead of returning `not_started`: the earlier process may have run the call.
  checkNotAborted(call)
  const { run, intended, offered } = call
  return offered
    ? executeCall(run, offered, intended)
    : { status: 'not_started', content: loadPrompt('results/interrupted-call.md#not_repeated_tool_gone') }
}

async function probe(call: InterruptedCall): Promise<ProbeOutcome> {
  const { run, tool, intended } = call
  if (!tool?.probe) return { kind: 'unclear' }
  checkNotAborted(call)
  const context = createToolContext(run, tool, intended, run.signal)
  const { before = null, call: probed } = intended
  const ask = tool.probe.bind(tool, copyJson(probed.args) as never, copyJson(before), context)
  try {
    return checkProbe(tool.name, await run.grace.race(ask, abortedInRecovery))
  } catch (thrown) {
    if (run.signal.aborted)
      throw new TirelessError('aborted', 'the run was interrupted while it recovered a call', { cause: thrown })
    // A failing probe must not end the run: the call would be neither settled nor listed.
    return {
      kind: 'unclear',
      why: loadPrompt('results/interrupted-call.md#check_failed', { error: asTirelessError(thrown).message }),
    }
  }
}

function checkProbe(tool: string, outcome: unknown): ProbeResult {
  const { kind, result } = (outcome ?? {}) as { readonly kind?: unknown; readonly result?: unknown }
  if (kind === 'not' || kind === 'unclear') return { kind }
  if (kind === 'happened') return { kind, result: checkToolResult(tool, 'probe', result) }
  const expected = "{ kind: 'happened', result }, { kind: 'not' } or { kind: 'unclear' }"
  throw invalidReturnError({ who: `tool ${tool}`, method: 'probe', expected }, outcome)
}

async function readRemains(call: InterruptedCall): Promise<string> {
  const { run, tool, intended, toolMessage } = call
  if (!tool?.remains) return toolMessage
  checkNotAborted(call)
  const look = tool.remains.bind(
    tool,
    copyJson(intended.call.args) as never,
    createToolContext(run, tool, intended, run.signal),
  )
  try {
    const left = checkReturn(remainsPort(tool.name), await run.grace.race(look, abortedInRecovery))
    return joinLines(toolMessage, left)
  } catch (thrown) {
    if (run.signal.aborted)
      throw new TirelessError('aborted', 'the run was interrupted while it recovered a call', { cause: thrown })
    const error = asTirelessError(thrown).message
    return joinLines(toolMessage, loadPrompt('results/interrupted-call.md#output_unreadable', { error }))
  }
}

const joinLines = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n')

function abortedInRecovery(): never {
  throw new TirelessError('aborted', 'the run was interrupted while a tool checked an interrupted call')
}

/** Lists the unknown outcome, or opens it again after a recheck without a result. */
async function listUnknown(call: InterruptedCall, status: UnknownStatus): Promise<UnknownOutcome> {
  const unknown = newUnknownOutcome(call.run, call.intended, status, await readRemains(call))
  await flushRecords(call.run, [{ op: 'unknown', unknown }])
  return unknown
}
