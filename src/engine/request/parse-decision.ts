/**
 * Turns a model's answer into a decision. Pure, so that a resumed turn reads its recorded answer in the same way.
 * Invariants: if any call of an answer is invalid, none runs (case 27); a truncated answer never runs (case 131).
 */

import type { Call, Decision } from '../../domain/decision.ts'
import { parseInstant } from '../../domain/duration.ts'
import type { ModelAnswer } from '../../domain/journal-record.ts'
import { EXPECTED_INSTANT } from '../../domain/limits.ts'
import { parseMatch } from '../../domain/wait.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { checkCall, type Toolbox } from './toolbox.ts'

/** Tools that the model calls to finish, to wait or to ask the owner. Such a call becomes the decision of the step. */
const DECISION_TOOLS: readonly string[] = ['finish', 'wait', 'ask_user']

export function parseDecision(answer: ModelAnswer, toolbox: Toolbox, answeredAt: number): Decision {
  const calls = answer.calls.map((asked) => checkCall(toolbox, asked))
  if (answer.finish === 'length')
    return invalid(
      calls.map((call) => ({ ...call, fault: loadPrompt('retries/invalid-answer.md#call_cut_off') })),
      loadPrompt('retries/invalid-answer.md#cut_off'),
    )
  if (answer.fault !== undefined)
    return invalid([], loadPrompt('retries/invalid-answer.md#unreadable', { reason: answer.fault }))
  if (calls.length === 0) return finalFromText(answer.said ?? answer.text)
  const checked = refuseDuplicateIds(calls)
  if (checked.some((call) => call.fault))
    return invalid(checked.map(markNotRun), loadPrompt('retries/invalid-answer.md#invalid_call'))
  const decisionCall = checked.find(({ tool }) => DECISION_TOOLS.includes(tool))
  if (!decisionCall) return { kind: 'act', calls: checked }
  if (checked.length > 1)
    return invalid(
      checked.map((call) =>
        call === decisionCall
          ? { ...call, fault: loadPrompt('retries/invalid-answer.md#decision_call_not_run', { tool: call.tool }) }
          : markNotRun(call),
      ),
      loadPrompt('retries/invalid-answer.md#decision_not_alone', { tool: decisionCall.tool }),
    )
  if (decisionCall.tool === 'finish') return finishDecision(decisionCall)
  return decisionCall.tool === 'wait' ? waitDecision(decisionCall, answeredAt) : askOwnerDecision(decisionCall)
}

function finalFromText(answer: string): Decision {
  return answer.trim() === '' ? emptyAnswerDecision() : { kind: 'final', answer }
}

function finishDecision(call: Call): Decision {
  const { answer, summary, next } = call.args as { answer: string; summary?: string; next?: string }
  if (answer.trim() === '')
    return emptyAnswerDecision([{ ...call, fault: loadPrompt('retries/invalid-answer.md#finish_empty') }])
  const said = { ...(summary === undefined ? {} : { summary }), ...(next === undefined ? {} : { next }) }
  return { kind: 'final', answer, ...said, via: call }
}

function waitDecision(call: Call, answeredAt: number): Decision {
  const { for: what, until } = call.args as { for: string; until?: string }
  const instant = until === undefined ? undefined : parseInstant(until, answeredAt)
  if (until !== undefined && instant === undefined) {
    const values = { until: JSON.stringify(until), expected: EXPECTED_INSTANT }
    const fault = loadPrompt('retries/invalid-answer.md#wait_until_invalid', values)
    return invalid([{ ...call, fault }], loadPrompt('retries/invalid-answer.md#wait_invalid'))
  }
  return {
    kind: 'wait',
    match: parseMatch(what),
    reason: what,
    ...(instant === undefined ? {} : { until: instant }),
    via: call,
  }
}

/** A question to the owner is a wait for a message. The ACT phase sends the question. */
function askOwnerDecision(call: Call): Decision {
  const { question } = call.args as { question: string }
  return { kind: 'wait', match: 'user_message', reason: question, via: call }
}

function refuseDuplicateIds(calls: readonly Call[]): Call[] {
  return calls.map((call) =>
    calls.filter((other) => other.id === call.id).length > 1
      ? { ...call, fault: loadPrompt('retries/invalid-answer.md#duplicate_call_id', { id: JSON.stringify(call.id) }) }
      : call,
  )
}

function markNotRun(call: Call): Call {
  return call.fault ? call : { ...call, fault: loadPrompt('retries/invalid-answer.md#call_not_run') }
}

export function emptyAnswerDecision(calls: readonly Call[] = []): Decision {
  return { kind: 'invalid', calls, feedback: loadPrompt('retries/invalid-answer.md#empty'), empty: true }
}

function invalid(calls: readonly Call[], feedback: string): Decision {
  return { kind: 'invalid', calls, feedback }
}
