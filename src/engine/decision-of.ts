/**
 * From an answer to a decision. Pure, so that a resumed turn reads its recorded answer exactly as the first time.
 * Invariants: an answer with any fault runs none of its calls (case 27); what was cut is never acted on (case 131).
 */

import type { Call, Decision } from '../domain/decision.ts'
import { parseInstant } from '../domain/duration.ts'
import { EXPECTED_INSTANT } from '../domain/limits.ts'
import type { Answer } from '../domain/record.ts'
import { matchOf } from '../domain/wait.ts'
import { checkCall, type Toolbox } from './toolbox.ts'

/** Tools by which a mind says what it decides; the engine handles them. */
const SPOKEN: readonly string[] = ['finish', 'wait', 'ask_user']

export function decisionOf(answer: Answer, toolbox: Toolbox, answeredAt: number): Decision {
  const calls = answer.calls.map((asked) => checkCall(toolbox, asked))
  if (answer.finish === 'length')
    return invalid(
      calls.map((call) => ({ ...call, fault: 'the answer was cut at the output limit, so nothing of it was run' })),
      'your answer was cut at the output limit; answer again, shorter, or in several steps',
    )
  if (answer.fault !== undefined) return invalid([], `your answer could not be read: ${answer.fault}`)
  if (calls.length === 0) return spokenFinal(answer.said ?? answer.text)
  const checked = refuseDuplicates(calls)
  if (checked.some((call) => call.fault))
    return invalid(checked.map(notRun), 'none of your calls was run, because at least one was malformed')
  const spoken = checked.find(({ tool }) => SPOKEN.includes(tool))
  if (!spoken) return { kind: 'act', calls: checked }
  if (checked.length > 1)
    return invalid(
      checked.map((call) =>
        call === spoken
          ? { ...call, fault: `call ${call.tool} alone, once you have seen the results of the other calls` }
          : notRun(call),
      ),
      `call ${spoken.tool} alone`,
    )
  if (spoken.tool === 'finish') return finishing(spoken)
  return spoken.tool === 'wait' ? waiting(spoken, answeredAt) : askingOwner(spoken)
}

function spokenFinal(answer: string): Decision {
  return answer.trim() === '' ? emptyAnswer() : { kind: 'final', answer }
}

function finishing(call: Call): Decision {
  const { answer, summary } = call.args as { answer: string; summary?: string }
  if (answer.trim() === '') return emptyAnswer([{ ...call, fault: 'the answer is empty' }])
  return { kind: 'final', answer, ...(summary === undefined ? {} : { summary }), via: call }
}

function waiting(call: Call, answeredAt: number): Decision {
  const { for: what, until } = call.args as { for: string; until?: string }
  const instant = until === undefined ? undefined : parseInstant(until, answeredAt)
  if (until !== undefined && instant === undefined)
    return invalid(
      [{ ...call, fault: `until: got ${JSON.stringify(until)}; expected ${EXPECTED_INSTANT}` }],
      'nothing was waited for',
    )
  return {
    kind: 'wait',
    match: matchOf(what),
    reason: what,
    ...(instant === undefined ? {} : { until: instant }),
    via: call,
  }
}

/** The question itself goes out when it is acted on. */
function askingOwner(call: Call): Decision {
  const { question } = call.args as { question: string }
  return { kind: 'wait', match: 'user_message', reason: question, via: call }
}

function refuseDuplicates(calls: readonly Call[]): Call[] {
  return calls.map((call) =>
    calls.filter((other) => other.id === call.id).length > 1
      ? { ...call, fault: `the call id ${JSON.stringify(call.id)} was used twice` }
      : call,
  )
}

function notRun(call: Call): Call {
  return call.fault ? call : { ...call, fault: 'not run, because another call of the same answer was malformed' }
}

export function emptyAnswer(calls: readonly Call[] = []): Decision {
  return { kind: 'invalid', calls, feedback: 'an empty answer is no answer', empty: true }
}

function invalid(calls: readonly Call[], feedback: string): Decision {
  return { kind: 'invalid', calls, feedback }
}
