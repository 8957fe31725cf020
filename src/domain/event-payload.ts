/**
 * Event payloads, made from journal records. Texts are truncated, so that the size of a run's events depends only on
 * the number of its steps.
 */

import type { Decision, Next, Verdict } from './decision.ts'
import { assertNever } from './error.ts'
import type { HistoryCut, JournalRecord, ModelAnswer, RunSetup } from './journal-record.ts'
import type { Json } from './json.ts'
import type { Observation } from './observation.ts'
import { titleOfRun } from './title.ts'
import { truncateText } from './truncate.ts'

export type Payload = Readonly<Record<string, Json>>
export type RecordOf<K extends JournalRecord['kind']> = Extract<JournalRecord, { kind: K }>

const MAX_TEXT = 2000
const MAX_DIFF = 4096

/** Contract: returns the text, or its beginning with the number of characters left out; never half a character. */
export function truncateEventText(text: string, max = MAX_TEXT): string {
  return text.length <= max ? text : truncateText(text, max, { mark: countMissing })
}

const countMissing = (missing: number): string => `… (${missing} characters more)`

/** Contract: returns the value, or the beginning of its JSON if that is too long. */
function truncateValue(value: object | Json, max = MAX_TEXT): Json {
  if (typeof value === 'string') return truncateEventText(value, max)
  if (typeof value !== 'object' || value === null) return value
  const text = JSON.stringify(value)
  return text.length <= max ? (value as Json) : truncateEventText(text, max)
}

export const startPayload = ({ agent_id, behaviour, params, task, setup }: RecordOf<'run_started'>): Payload => ({
  agent_id,
  behaviour,
  ...(params === undefined ? {} : { params: { ...params } }),
  task: truncateEventText(task),
  title: titleOfRun(task, behaviour),
  setup: setupPayload(setup),
})

function setupPayload({ skills, instructions, budget, ...setup }: RunSetup): Json {
  return {
    ...setup,
    budget: { ...budget },
    ...(skills === undefined ? {} : { skills: skills.map(({ name }) => name) }),
    ...(instructions === undefined ? {} : { instructions: truncateEventText(instructions) }),
  }
}

export function inputPayload({ input, feedback, memory, observation }: RecordOf<'input_bound'>): Payload {
  return {
    input: input.map(observationPayload),
    ...(feedback === undefined ? {} : { feedback: truncateEventText(feedback) }),
    ...(memory === undefined ? {} : { memory: truncateValue(memory, MAX_DIFF) }),
    ...(observation === undefined ? {} : { observation: truncateValue(observation, MAX_DIFF) }),
  }
}

function observationPayload(observed: Observation): Json {
  if (observed.type === 'user_message') return { type: observed.type, text: truncateEventText(observed.text) }
  const { type, name, payload } = observed
  return payload === undefined ? { type, name } : { type, name, payload: truncateValue(payload) }
}

export const requestPayload = (
  { model, digest, prepared, composition }: RecordOf<'model_requested'>,
  cut: HistoryCut | undefined,
): Payload => ({
  model,
  digest,
  ...(prepared === undefined ? {} : { prepared: truncateEventText(prepared) }),
  ...(cut === undefined ? {} : { cut: cutPayload(cut) }),
  ...(composition === undefined ? {} : { composition: { ...composition } }),
})

const cutPayload = ({ from, summary, recalled }: HistoryCut): Json => ({
  from,
  summary: truncateEventText(summary),
  recalled: recalled.map((text) => truncateEventText(text)),
})

/** A requested call: `args` is the raw text of a model, or the arguments of a behaviour. */
export interface EventCall {
  readonly tool: string
  readonly args: Json
}

const callPayloads = (calls: readonly EventCall[]): readonly Json[] =>
  calls.map(({ tool, args }) => ({ tool, args: truncateValue(args) }))

export function answerPayload({ answer, usd }: RecordOf<'model_answered'>): Payload {
  const { text, calls, usage, said, notes, fault } = answer
  return {
    text: truncateEventText(text),
    calls: callPayloads(calls),
    usage: { ...usage },
    ...(usd === undefined ? {} : { usd }),
    ...(said === undefined ? {} : { said: truncateEventText(said) }),
    ...(notes === undefined
      ? {}
      : { notes: Object.fromEntries(Object.entries(notes).map(([name, note]) => [name, truncateEventText(note)])) }),
    ...(fault === undefined ? {} : { fault: truncateEventText(fault) }),
  }
}

/**
 * A decision as events show it. In contrast to the engine's decision, the calls of a model's answer are not checked
 * against the tools.
 */
export interface EventDecision {
  readonly kind: Decision['kind']
  readonly payload: Payload
  readonly calls: readonly EventCall[]
}

export function decisionFromAnswer({ text, calls, finish, said, fault }: ModelAnswer): EventDecision {
  if (fault !== undefined) return makeDecision('invalid', calls, { feedback: truncateEventText(fault) })
  if (finish === 'length')
    return makeDecision('invalid', calls, { feedback: 'the answer was truncated at the output limit' })
  const [only] = calls
  if (only === undefined) return makeDecision('final', calls, { answer: truncateEventText(said ?? text) })
  if (calls.length === 1 && only.tool === 'finish')
    return makeDecision('final', calls, { answer: textArgument(only.args, 'answer'), via: only.tool })
  if (calls.length === 1 && only.tool === 'wait')
    return makeDecision('wait', calls, { reason: textArgument(only.args, 'for'), via: only.tool })
  return makeDecision('act', calls, { calls: callPayloads(calls) })
}

export function decisionForEvent(decision: Decision): EventDecision {
  switch (decision.kind) {
    case 'act':
      return makeDecision('act', decision.calls, { calls: callPayloads(decision.calls) })
    case 'final':
      return makeDecision('final', [], { answer: truncateEventText(decision.answer) })
    case 'wait':
      return makeDecision('wait', [], { reason: truncateEventText(decision.reason) })
    case 'invalid':
      return makeDecision('invalid', decision.calls, { feedback: truncateEventText(decision.feedback) })
    case 'branch':
      return makeDecision('branch', [], {
        candidates: decision.candidates.map((each) => decisionForEvent(each).payload),
      })
    default:
      return assertNever(decision)
  }
}

/** Contract: returns the chosen candidate with its alternatives; if none was chosen, the branch itself. */
export function decisionFromBranch(decision: Decision | undefined, record: RecordOf<'branched'>): EventDecision {
  const { scores, chosen } = record
  const candidates = record.candidates ?? (decision?.kind === 'branch' ? decision.candidates : [])
  const details = { candidates: candidates.map((each) => decisionForEvent(each).payload), scores: [...scores], chosen }
  const taken = chosen === null ? undefined : candidates[chosen]
  if (taken === undefined) return makeDecision('branch', [], details)
  const { kind, calls, payload } = decisionForEvent(taken)
  return makeDecision(kind, calls, { ...payload, ...details })
}

const makeDecision = (kind: EventDecision['kind'], calls: readonly EventCall[], payload: Payload): EventDecision => ({
  kind,
  calls,
  payload: { kind, ...payload },
})

function textArgument(args: string, key: string): string {
  try {
    const word = (JSON.parse(args) as Record<string, unknown>)[key]
    return typeof word === 'string' ? truncateEventText(word) : ''
  } catch {
    return ''
  }
}

export const callResultPayload = (tool: string, { result }: RecordOf<'call_settled'>): Json => ({
  tool,
  status: result.status,
  content: truncateEventText(result.content),
})

export const diffPayload = (patch: RecordOf<'step_committed'>['patch']): Payload => ({
  state_diff: patch === undefined ? null : truncateValue(patch, MAX_DIFF),
})

export const verdictPayload = ({ critic, verdict }: { readonly critic: string; readonly verdict: Verdict }): Json => {
  switch (verdict.kind) {
    case 'continue':
      return { critic, kind: verdict.kind }
    case 'retry':
      return {
        ...{ critic, kind: verdict.kind, instruction: truncateEventText(verdict.instruction) },
        ...(verdict.attempt === undefined ? {} : { attempt: { ...verdict.attempt } }),
      }
    case 'stop':
      return {
        ...{ critic, kind: verdict.kind, reason: truncateEventText(verdict.reason) },
        ...(verdict.failure_class === undefined ? {} : { failure_class: verdict.failure_class }),
      }
    default:
      return assertNever(verdict)
  }
}

export function nextPayload(next: Next): Payload {
  switch (next.kind) {
    case 'continue':
      return next.retry ? { retry: true } : {}
    case 'park':
      return {
        parked: truncateEventText(next.wait.reason),
        ...(next.feedback === undefined || next.pause ? {} : { attempt: true }),
      }
    case 'become':
      return { behaviour: next.behaviour, ...next.params, why: truncateEventText(next.why) }
    case 'end':
      return { stop_reason: next.stop_reason, ...reasonPayload(next) }
    default:
      return assertNever(next)
  }
}

const reasonPayload = ({ reason, rule }: { readonly reason?: string; readonly rule?: string }): Payload => ({
  ...(reason === undefined ? {} : { reason: truncateEventText(reason) }),
  ...(rule === undefined ? {} : { rule }),
})

export const endPayload = (record: RecordOf<'run_ended'>): Payload => ({
  stop_reason: record.stop_reason,
  ...reasonPayload(record),
  ...causePayload(record),
})

const causePayload = ({ answer, failure_class, issues, failure_report }: RecordOf<'run_ended'>): Payload => ({
  ...(answer === undefined ? {} : { answer: truncateEventText(answer) }),
  ...(failure_class === undefined ? {} : { failure_class }),
  ...(issues === undefined
    ? {}
    : { issues: issues.map(({ code, message }) => ({ code, message: truncateEventText(message) })) }),
  ...(failure_report === undefined ? {} : { failure_report }),
})
