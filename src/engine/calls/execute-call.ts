/**
 * Executes one call: fills in hidden texts and secrets, enforces the time limit, retries if safe, redacts and truncates
 * the result.
 */

import { formatHostPort, parseHttpAddress } from '../../domain/address.ts'
import { CALL_STATUSES, type CallResult } from '../../domain/decision.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import { copyJson, deepFreeze, describeValue, ignoreRejections, type Json } from '../../domain/json.ts'
import { redactValue } from '../../domain/redact.ts'
import { callKeyOf } from '../../domain/unknown-outcome.ts'
import { startTimer } from '../../ports/deadline.ts'
import { requireOps } from '../../ports/env.ts'
import { runAsOwner } from '../../ports/fault-owner.ts'
import type { AnyTool, ToolContext } from '../../ports/tool.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { NOT_STARTED_INTERRUPTED } from '../abort-reason.ts'
import { GracePeriod } from '../grace-period.ts'
import { askPlugin, checkReturn, copyPlainReturn, type PluginPort } from '../plugins/ask-plugin.ts'
import { destinationsPort, factsPort } from '../plugins/tool-shapes.ts'
import { replyTargetsOf } from '../replies.ts'
import { type Run, sendDelta } from '../run.ts'
import type { IntendedCall } from '../session/session-thread.ts'
import { textShape } from '../shape.ts'
import { delegationOf } from './delegation.ts'
import { noteHiddenTexts } from './fill-placeholders.ts'
import { labelOfCall } from './result-labels.ts'

/** Maximum length of a result in characters. */
const MAX_CHARACTERS = 50_000
/** Characters reserved for the mark that says how much is left out. */
const MARK_LENGTH = 50

/** Contract: an error of the tool becomes a result and is never thrown. */
export async function executeCall(run: Run, tool: AnyTool, intended: IntendedCall): Promise<CallResult> {
  // The run was interrupted while the intent was written, and the tool has not started.
  if (run.signal.aborted) return NOT_STARTED_INTERRUPTED
  const { recovery } = intended.effect
  const tries = recovery === 'pure' || recovery === 'idempotent' ? 1 + (tool.maxRetries ?? 0) : 1
  for (let left = tries; ; ) {
    const outcome = await attempt(run, tool, intended, intended.call.timeoutMs ?? tool.timeoutMs)
    left -= 1
    // Retry only after the tool threw: an abandoned call may still be running.
    if (outcome.threw && left > 0 && !run.signal.aborted) continue
    const result = await noteHiddenTexts(run, tool, intended.effect, outcome.result)
    return truncateResult(redactValue(result, run.engine.secrets.hide))
  }
}

/** Abort reason of a call that exceeds its time limit. */
const TIMED_OUT = 'timed out'

interface Outcome {
  readonly result: CallResult
  /** Whether the tool threw an error and is therefore no longer running. */
  readonly threw: boolean
}

async function attempt(
  run: Run,
  tool: AnyTool,
  intended: IntendedCall,
  timeoutMs: number | undefined,
): Promise<Outcome> {
  if (timeoutMs === undefined) {
    const start = (): Promise<Outcome> => runTool(run, tool, intended, run.signal)
    return run.grace.race(start, () => abandonedOutcome('interrupted'))
  }
  const { clock } = run.engine
  const timeLimit = new AbortController()
  const signal = AbortSignal.any([run.signal, timeLimit.signal])
  const stopTimer = startTimer(clock, timeoutMs, () => timeLimit.abort(TIMED_OUT))
  // Whether the time limit ended the call; false if another interruption came first.
  const isTimedOut = (): boolean => signal.reason === TIMED_OUT
  const grace = new GracePeriod(signal, clock)
  try {
    const start = (): Promise<Outcome> => runTool(run, tool, intended, signal)
    const outcome = await grace.race(start, () => abandonedOutcome(isTimedOut() ? 'timed_out' : 'interrupted'))
    return isTimedOut() ? { threw: false, result: timedOutResult(outcome.result, timeoutMs) } : outcome
  } finally {
    stopTimer()
    grace.close()
  }
}

/**
 * Contract: the status becomes `timed_out`, but `unknown` stays. The facts of the result, including its label, are
 * kept.
 */
function timedOutResult(result: CallResult, timeoutMs: number): CallResult {
  if (result.status === 'timed_out' || result.status === 'unknown') return result
  const content = loadPrompt('results/failed-call.md#timed_out', { limit: timeoutMs, result: result.content })
  return { ...result, status: 'timed_out', content }
}

function abandonedOutcome(status: CallResult['status']): Outcome {
  const content = loadPrompt('results/interrupted-call.md#still_running')
  return { threw: false, result: { status, content } }
}

async function runTool(run: Run, tool: AnyTool, intended: IntendedCall, signal: AbortSignal): Promise<Outcome> {
  const strayFault = Promise.withResolvers<Outcome>()
  let hasEnded = false
  const fail = (fault: unknown): boolean => {
    if (hasEnded) return false
    strayFault.resolve(strayFailure(fault))
    return true
  }
  const start = async (): Promise<Outcome> => {
    try {
      const { args } = await run.engine.sources.calls.fillPlaceholders(run, tool, intended.index, {
        ...intended.call,
        effect: intended.effect,
      })
      const result = await tool.run(
        fillSecrets(run, tool, intended, args) as never,
        createToolContext(run, tool, intended, signal),
      )
      return { threw: false, result: checkToolResult(tool.name, 'run', result) }
    } catch (thrown) {
      return { threw: true, result: failedResult(thrown, signal) }
    }
  }
  const outcome = await Promise.race([runAsOwner({ who: `tool ${tool.name}`, fail }, start), strayFault.promise])
  hasEnded = true
  return outcome
}

/**
 * The outcome if background work of the call fails. Other background work may still run, so the call is not retried.
 */
function strayFailure(fault: unknown): Outcome {
  const { code, message } = asTirelessError(fault, 'tool_failed')
  const content = loadPrompt('results/failed-call.md#background_failed', { code, error: message })
  return { threw: false, result: { status: 'error', content } }
}

/** Secrets are bound to hosts, so an address is reduced to its host and port. */
function hostOfDestination(destination: string): string {
  const address = parseHttpAddress(destination)
  return address.kind === 'read' ? formatHostPort(address.value) : destination
}

/**
 * Fills in secret values just before the tool runs. Journal, approvals and events contain only the names of secrets.
 */
function fillSecrets({ engine }: Run, tool: AnyTool, { call, effect }: IntendedCall, args: Json): Json {
  const named = tool.secrets ?? []
  if (named.length === 0 || typeof args !== 'object' || args === null) return args
  const destinations = [
    ...(effect.host === undefined ? [] : [effect.host]),
    ...(tool.destinations
      ? askPlugin(destinationsPort(tool.name), () => tool.destinations?.(call.args as never)).map(hostOfDestination)
      : []),
  ]
  const fill = (text: string): string => askPlugin(FILL_PORT, () => engine.secrets.fill(text, destinations))
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, named.includes(name) ? redactValue(value, fill) : value]),
  )
}

const FILL_PORT: PluginPort<string> = { who: 'secrets', method: 'fill', expected: 'a text', shape: textShape }

/** Checks a tool's result without a schema library, because the check runs for every call and must be fast. */
export function checkToolResult(tool: string, method: 'run' | 'probe', value: unknown): CallResult {
  try {
    if (method === 'run' && isData(value)) return dataResult(tool, value)
    const { status, content, facts } = value as CallResult
    if (CALL_STATUSES.includes(status) && typeof content === 'string')
      return facts === undefined ? { status, content } : { status, content, facts: checkReturn(factsPort(tool), facts) }
  } catch (thrown) {
    if (thrown instanceof TirelessError) throw thrown
  }
  ignoreRejections(value)
  const expected = `{ status: ${CALL_STATUSES.join('|')}, content: a text }, or plain data that is not like that`
  const what = `tool ${tool} returned an invalid result from ${method}(); it may still have taken effect`
  throw new TirelessError('tool_failed', { what, got: describeValue(value), expected })
}

/** An object that may be meant as a result is never taken for data: a failed call would count as ok. */
function isData(value: unknown): boolean {
  if (value === undefined || typeof value === 'function' || typeof value === 'symbol') return false
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true
  const { status } = value as Partial<CallResult>
  return !('status' in value && 'content' in value) && (status === 'ok' || !CALL_STATUSES.includes(status as never))
}

function dataResult(tool: string, value: unknown): CallResult {
  if (typeof value === 'string') return { status: 'ok', content: value }
  const data = copyPlainReturn({ who: `tool ${tool}`, method: 'run' }, value, 'tool_failed')
  return { status: 'ok', content: JSON.stringify(data) }
}

export function failedResult(thrown: unknown, signal: AbortSignal): CallResult {
  const error = asTirelessError(thrown, 'tool_failed')
  return { status: signal.aborted ? 'interrupted' : 'error', content: `${error.code}: ${error.message}` }
}

function truncateResult(result: CallResult): CallResult {
  const { content } = result
  if (content.length <= MAX_CHARACTERS) return result
  const half = MAX_CHARACTERS / 2 - MARK_LENGTH
  const cut = content.length - 2 * half
  const mark = loadPrompt('history/cut-marks.md#result', { missing: cut })
  return { ...result, content: `${content.slice(0, half)}\n${mark}\n${content.slice(-half)}` }
}

/** Position of a call. `call` is missing until its intent is recorded. */
type CallPosition = Pick<IntendedCall, 'turn' | 'index' | 'ts' | 'filled'> & Partial<Pick<IntendedCall, 'call'>>

export function createToolContext(run: Run, tool: AnyTool, at: CallPosition, signal: AbortSignal): ToolContext {
  const { index, call } = at
  return {
    env: run.env,
    ops: (group) => requireOps(run.env, group),
    clock: run.engine.clock,
    signal,
    call: callKeyOf(run.dispatch.session_id, at),
    origin: { agent_id: run.dispatch.agent_id, session_id: run.dispatch.session_id, turn: at.turn },
    // Copied when it is used: few tools do.
    get state() {
      return deepFreeze(copyJson(run.thread.state))
    },
    behaviour: run.behaviour.name,
    replyTo: replyTargetsOf(run),
    intendedAt: at.ts,
    seen: run.thread.fileDigests,
    viewedParts: run.thread.viewedParts,
    label: labelOfCall(run, tool, at),
    cwd: run.thread.cwd,
    delegation: () => delegationOf(run),
    say(text) {
      if (call && typeof text === 'string') sendDelta(run, { kind: 'output', index, tool: call.tool, text })
    },
  }
}
