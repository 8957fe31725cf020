/** Running one intended call: with its secrets, within its time, again where that is harmless, its result without secrets and no longer than fits. */

import { addressOf, placeText } from '../domain/address.ts'
import { CALL_STATUSES, type CallResult } from '../domain/decision.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import { copyJson, describeValue, ignoreRejections, type Json } from '../domain/json.ts'
import { redacted } from '../domain/redacted.ts'
import { callKeyOf } from '../domain/unknown.ts'
import { opsOf } from '../ports/env.ts'
import { runOwned } from '../ports/fault-owner.ts'
import type { AnyTool, ToolContext } from '../ports/tool.ts'
import { askPlugin, checkReturn, type Port } from './ask-plugin.ts'
import { INTERRUPTED_BEFORE } from './interruption.ts'
import { Leaving } from './leaving.ts'
import { destinationsPort, factsPort } from './return-shapes.ts'
import { type Run, say } from './run.ts'
import { textShape } from './shape.ts'
import type { Intended } from './thread.ts'

/** More of a result the model is not shown. */
const MOST_CHARACTERS = 50_000
/** Room for the words that say how much is left out. */
const MARK = 50

/** Contract: never throws what the tool threw; a tool's failure is a result. */
export async function execute(run: Run, tool: AnyTool, intended: Intended): Promise<CallResult> {
  // Interrupted while its intent was written: the hand has not moved yet, and does not begin to.
  if (run.signal.aborted) return INTERRUPTED_BEFORE
  const { recovery } = intended.effect
  const tries = recovery === 'pure' || recovery === 'idempotent' ? 1 + (tool.maxRetries ?? 0) : 1
  for (let left = tries; ; ) {
    const outcome = await attempt(run, tool, intended, intended.call.timeoutMs ?? tool.timeoutMs)
    left -= 1
    // What was cut short may still be running: it is never run again beside itself.
    if (!outcome.threw || left === 0 || run.signal.aborted)
      return capped(redacted(outcome.result, run.engine.secrets.hide))
  }
}

/** Why a call is told to stop whose time is up. */
const TIME_IS_UP = 'timed out'

interface Outcome {
  readonly result: CallResult
  /** The tool itself failed, and is over. */
  readonly threw: boolean
}

async function attempt(run: Run, tool: AnyTool, intended: Intended, timeoutMs: number | undefined): Promise<Outcome> {
  if (timeoutMs === undefined) {
    const begin = (): Promise<Outcome> => work(run, tool, intended, run.signal)
    return run.leaving.or(begin, () => leftBehind('interrupted'))
  }
  const { clock } = run.engine
  const late = new AbortController()
  const over = new AbortController()
  const signal = AbortSignal.any([run.signal, late.signal])
  void clock.sleep(timeoutMs, over.signal).then(() => over.signal.aborted || late.abort(TIME_IS_UP))
  // Not where something else has interrupted it first.
  const isLate = (): boolean => signal.reason === TIME_IS_UP
  const leaving = new Leaving(signal, clock)
  try {
    const begin = (): Promise<Outcome> => work(run, tool, intended, signal)
    const outcome = await leaving.or(begin, () => leftBehind(isLate() ? 'timed_out' : 'interrupted'))
    return isLate() ? { threw: false, result: lateResult(outcome.result, timeoutMs) } : outcome
  } finally {
    over.abort('over')
    leaving.close()
  }
}

/** Contract: never ok, whatever it says of itself. One of which nobody knows what became stays unknown; what it has brought keeps its label. */
function lateResult(result: CallResult, timeoutMs: number): CallResult {
  if (result.status === 'timed_out' || result.status === 'unknown') return result
  const content = `it was told to stop after ${timeoutMs} ms, and has ended: ${result.content}`
  return { ...result, status: 'timed_out', content }
}

function leftBehind(status: CallResult['status']): Outcome {
  const content = 'it did not end when it was told to, and may still be running'
  return { threw: false, result: { status, content } }
}

async function work(run: Run, tool: AnyTool, intended: Intended, signal: AbortSignal): Promise<Outcome> {
  const stray = Promise.withResolvers<Outcome>()
  let isOver = false
  const fail = (fault: unknown): boolean => {
    if (isOver) return false
    stray.resolve(strayOutcome(fault))
    return true
  }
  const begin = async (): Promise<Outcome> => {
    try {
      const args = withSecrets(run, tool, intended)
      const result = await tool.run(args as never, contextOf(run, intended, signal))
      return { threw: false, result: checkedResult(tool.name, 'run', result) }
    } catch (thrown) {
      return { threw: true, result: failureOf(thrown, signal) }
    }
  }
  const outcome = await Promise.race([runOwned({ who: `tool ${tool.name}`, fail }, begin), stray.promise])
  isOver = true
  return outcome
}

/** Something that the call began and did not wait for has failed. What else it began may still go on, so it is not run again beside itself. */
function strayOutcome(fault: unknown): Outcome {
  const { code, message } = asTirelessError(fault, 'tool_failed')
  const content = `${code}: something it had begun failed, and nobody was waiting for that: ${message}; it may still be running`
  return { threw: false, result: { status: 'error', content } }
}

/** Secrets are set for hosts. */
function hostOrPlace(destination: string): string {
  const address = addressOf(destination)
  return address.kind === 'read' ? placeText(address.value) : destination
}

/** The last moment: what was judged, journalled, shown and approved names them only. What it is handed is the tool's own. */
function withSecrets({ engine }: Run, tool: AnyTool, { call, effect }: Intended): Json {
  const args = copyJson(call.args)
  const named = tool.secrets ?? []
  if (named.length === 0 || typeof args !== 'object' || args === null) return args
  const destinations = [
    ...(effect.host === undefined ? [] : [effect.host]),
    ...(tool.destinations
      ? askPlugin(destinationsPort(tool.name), () => tool.destinations?.(call.args as never)).map(hostOrPlace)
      : []),
  ]
  const fill = (text: string): string => askPlugin(FILL, () => engine.secrets.fill(text, destinations))
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, named.includes(name) ? redacted(value, fill) : value]),
  )
}

const FILL: Port<string> = { who: 'secrets', method: 'fill', expected: 'a text', shape: textShape }

/** Authors who have no types may return anything. Plain code: this is checked for every call of every run. */
export function checkedResult(tool: string, method: 'run' | 'probe', value: unknown): CallResult {
  try {
    const { status, content, facts } = value as CallResult
    if (CALL_STATUSES.includes(status) && typeof content === 'string')
      return facts === undefined ? { status, content } : { status, content, facts: checkReturn(factsPort(tool), facts) }
  } catch (thrown) {
    if (thrown instanceof TirelessError) throw thrown
  }
  ignoreRejections(value)
  const expected = `{ status: ${CALL_STATUSES.join('|')}, content: a text }`
  const what = `tool ${tool} ended without a result from ${method}(); it may have done its work all the same`
  throw new TirelessError('tool_failed', { what, got: describeValue(value), expected })
}

export function failureOf(thrown: unknown, signal: AbortSignal): CallResult {
  const error = asTirelessError(thrown, 'tool_failed')
  return { status: signal.aborted ? 'interrupted' : 'error', content: `${error.code}: ${error.message}` }
}

function capped(result: CallResult): CallResult {
  const { content } = result
  if (content.length <= MOST_CHARACTERS) return result
  const half = MOST_CHARACTERS / 2 - MARK
  const cut = content.length - 2 * half
  return { ...result, content: `${content.slice(0, half)}\n[… ${cut} characters left out …]\n${content.slice(-half)}` }
}

/** Of a call that is intended, or about to be: `call` is there once it is. */
type At = Pick<Intended, 'turn' | 'index' | 'ts'> & Partial<Pick<Intended, 'call'>>

export function contextOf(run: Run, at: At, signal: AbortSignal): ToolContext {
  const { index, call } = at
  return {
    env: run.env,
    ops: (group) => opsOf(run.env, group),
    clock: run.engine.clock,
    signal,
    call: callKeyOf(run.dispatch.session_id, at),
    origin: { agent_id: run.dispatch.agent_id, session_id: run.dispatch.session_id, turn: at.turn },
    intendedAt: at.ts,
    seen: run.thread.seen,
    label: { ...run.thread.label },
    cwd: run.thread.cwd,
    say(text) {
      if (call && typeof text === 'string') say(run, { kind: 'output', index, tool: call.tool, text })
    },
  }
}
