/**
 * Turns a model's answer into a decision. Pure, so that a resumed turn reads its recorded answer in the same way.
 * Invariants: if any call of an answer is invalid, none runs (case 27); a truncated answer never runs (case 131).
 */

import type { Call, Decision } from '../../domain/decision.ts'
import { parseInstant } from '../../domain/duration.ts'
import type { ModelAnswer } from '../../domain/journal-record.ts'
import { EXPECTED_INSTANT } from '../../domain/limits.ts'
import { parseMatch } from '../../domain/wait.ts'
import { checkCall, type Toolbox } from './toolbox.ts'

/** Tools that express a decision; the engine handles them itself. */
const DECISION_TOOLS: readonly string[] = ['finish', 'wait', 'ask_user']

export function parseDecision(answer: ModelAnswer, toolbox: Toolbox, answeredAt: number): Decision {
  const calls = answer.calls.map((asked) => checkCall(toolbox, asked))
  if (answer.finish === 'length')
    return invalid(
      calls.map((call) => ({ ...call, fault: 'not run, because the answer was cut off at the output limit' })),
      'Your answer was cut off at the output limit. Send a shorter answer, or split it into several steps.',
    )
  if (answer.fault !== undefined) return invalid([], `Your answer could not be parsed: ${answer.fault}`)
  if (calls.length === 0) return finalFromText(answer.said ?? answer.text)
  const checked = refuseDuplicateIds(calls)
  if (checked.some((call) => call.fault))
    return invalid(checked.map(markNotRun), 'None of your calls was run, because at least one was invalid.')
  const decisionCall = checked.find(({ tool }) => DECISION_TOOLS.includes(tool))
  if (!decisionCall) return { kind: 'act', calls: checked }
  if (checked.length > 1)
    return invalid(
      checked.map((call) =>
        call === decisionCall
          ? { ...call, fault: `not run: call ${call.tool} alone, after you have the results of the other calls` }
          : markNotRun(call),
      ),
      `Call ${decisionCall.tool} alone, without other calls in the same answer.`,
    )
  if (decisionCall.tool === 'finish') return finishDecision(decisionCall)
  return decisionCall.tool === 'wait' ? waitDecision(decisionCall, answeredAt) : askOwnerDecision(decisionCall)
}

function finalFromText(answer: string): Decision {
  return answer.trim() === '' ? emptyAnswerDecision() : { kind: 'final', answer }
}

function finishDecision(call: Call): Decision {
  const { answer, summary } = call.args as { answer: string; summary?: string }
  if (answer.trim() === '') return emptyAnswerDecision([{ ...call, fault: 'the answer is empty' }])
  return { kind: 'final', answer, ...(summary === undefined ? {} : { summary }), via: call }
}

function waitDecision(call: Call, answeredAt: number): Decision {
  const { for: what, until } = call.args as { for: string; until?: string }
  const instant = until === undefined ? undefined : parseInstant(until, answeredAt)
  if (until !== undefined && instant === undefined)
    return invalid(
      [{ ...call, fault: `until: got ${JSON.stringify(until)}; expected ${EXPECTED_INSTANT}` }],
      'The wait did not start, because its arguments are invalid.',
    )
  return {
    kind: 'wait',
    match: parseMatch(what),
    reason: what,
    ...(instant === undefined ? {} : { until: instant }),
    via: call,
  }
}

/** The question is sent in the ACT phase. */
function askOwnerDecision(call: Call): Decision {
  const { question } = call.args as { question: string }
  return { kind: 'wait', match: 'user_message', reason: question, via: call }
}

function refuseDuplicateIds(calls: readonly Call[]): Call[] {
  return calls.map((call) =>
    calls.filter((other) => other.id === call.id).length > 1
      ? { ...call, fault: `the call id ${JSON.stringify(call.id)} was used twice` }
      : call,
  )
}

function markNotRun(call: Call): Call {
  return call.fault ? call : { ...call, fault: 'not run, because another call of the same answer was invalid' }
}

export function emptyAnswerDecision(calls: readonly Call[] = []): Decision {
  return { kind: 'invalid', calls, feedback: 'Your answer was empty. Call a tool, or answer with text.', empty: true }
}

function invalid(calls: readonly Call[], feedback: string): Decision {
  return { kind: 'invalid', calls, feedback }
}
