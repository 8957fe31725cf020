/**
 * Event payloads, made from journal records. Texts are truncated, so that the size of a run's events depends on its
 * steps alone.
 */

import type { Decision, Next, Verdict } from './decision.ts'
import { assertNever } from './error.ts'
import type { Json } from './json.ts'
import type { Observation } from './observation.ts'
import type { Answer, Cut, JournalRecord, Setup } from './record.ts'
import { titleOf } from './title.ts'

export type Payload = Readonly<Record<string, Json>>
export type RecordOf<K extends JournalRecord['kind']> = Extract<JournalRecord, { kind: K }>

const MAX_TEXT = 2000
const MAX_DIFF = 4096

/** Contract: the text, or its beginning with the number of characters left out; never half a character. */
export function shortened(text: string, max = MAX_TEXT): string {
  if (text.length <= max) return text
  const end = text.charCodeAt(max - 1) >= 0xd800 && text.charCodeAt(max - 1) <= 0xdbff ? max - 1 : max
  return `${text.slice(0, end)}… (${text.length - end} characters more)`
}

/** Contract: the value, or the beginning of its JSON. */
function truncateValue(value: object | Json, max = MAX_TEXT): Json {
  if (typeof value === 'string') return shortened(value, max)
  if (typeof value !== 'object' || value === null) return value
  const text = JSON.stringify(value)
  return text.length <= max ? (value as Json) : shortened(text, max)
}

export const startPayload = ({ agent_id, behaviour, task, setup }: RecordOf<'run_started'>): Payload => ({
  agent_id,
  behaviour,
  task: shortened(task),
  title: titleOf(task),
  setup: setupPayload(setup),
})

function setupPayload({ skills, instructions, budget, ...setup }: Setup): Json {
  return {
    ...setup,
    budget: { ...budget },
    ...(skills === undefined ? {} : { skills: skills.map(({ name }) => name) }),
    ...(instructions === undefined ? {} : { instructions: shortened(instructions) }),
  }
}

export function inputPayload({ input, feedback, observation }: RecordOf<'input_bound'>): Payload {
  return {
    input: input.map(observationPayload),
    ...(feedback === undefined ? {} : { feedback: shortened(feedback) }),
    ...(observation === undefined ? {} : { observation: truncateValue(observation, MAX_DIFF) }),
  }
}

function observationPayload(observed: Observation): Json {
  if (observed.type === 'user_message') return { type: observed.type, text: shortened(observed.text) }
  const { type, name, payload } = observed
  return payload === undefined ? { type, name } : { type, name, payload: truncateValue(payload) }
}

export const requestPayload = (
  { model, digest, prepared, composition }: RecordOf<'model_requested'>,
  cut: Cut | undefined,
): Payload => ({
  model,
  digest,
  ...(prepared === undefined ? {} : { prepared: shortened(prepared) }),
  ...(cut === undefined ? {} : { cut: cutPayload(cut) }),
  ...(composition === undefined ? {} : { composition: { ...composition } }),
})

const cutPayload = ({ from, summary, recalled }: Cut): Json => ({
  from,
  summary: shortened(summary),
  recalled: recalled.map((text) => shortened(text)),
})

/** A requested call: `args` is the raw text of a model, or the arguments of a behaviour. */
export interface ToldCall {
  readonly tool: string
  readonly args: Json
}

const callPayloads = (calls: readonly ToldCall[]): readonly Json[] =>
  calls.map(({ tool, args }) => ({ tool, args: truncateValue(args) }))

export function answerPayload({ answer, usd }: RecordOf<'model_answered'>): Payload {
  const { text, calls, usage, said, notes, fault } = answer
  return {
    text: shortened(text),
    calls: callPayloads(calls),
    usage: { ...usage },
    ...(usd === undefined ? {} : { usd }),
    ...(said === undefined ? {} : { said: shortened(said) }),
    ...(notes === undefined
      ? {}
      : { notes: Object.fromEntries(Object.entries(notes).map(([name, note]) => [name, shortened(note)])) }),
    ...(fault === undefined ? {} : { fault: shortened(fault) }),
  }
}

/** A decision for events. For a model's answer it is derived without the tools, unlike the engine's own parsing. */
export interface Choice {
  readonly kind: Decision['kind']
  readonly payload: Payload
  readonly calls: readonly ToldCall[]
}

export function choiceOfAnswer({ text, calls, finish, said, fault }: Answer): Choice {
  if (fault !== undefined) return makeDecision('invalid', calls, { feedback: shortened(fault) })
  if (finish === 'length')
    return makeDecision('invalid', calls, { feedback: 'the answer was truncated at the output limit' })
  const [only] = calls
  if (only === undefined) return makeDecision('final', calls, { answer: shortened(said ?? text) })
  if (calls.length === 1 && only.tool === 'finish')
    return makeDecision('final', calls, { answer: textArgument(only.args, 'answer'), via: only.tool })
  if (calls.length === 1 && only.tool === 'wait')
    return makeDecision('wait', calls, { reason: textArgument(only.args, 'for'), via: only.tool })
  return makeDecision('act', calls, { calls: callPayloads(calls) })
}

export function choiceOfDecision(decision: Decision): Choice {
  switch (decision.kind) {
    case 'act':
      return makeDecision('act', decision.calls, { calls: callPayloads(decision.calls) })
    case 'final':
      return makeDecision('final', [], { answer: shortened(decision.answer) })
    case 'wait':
      return makeDecision('wait', [], { reason: shortened(decision.reason) })
    case 'invalid':
      return makeDecision('invalid', decision.calls, { feedback: shortened(decision.feedback) })
    case 'branch':
      return makeDecision('branch', [], {
        candidates: decision.candidates.map((each) => choiceOfDecision(each).payload),
      })
    default:
      return assertNever(decision)
  }
}

/** Contract: the chosen candidate with its alternatives; where none was chosen, the branch itself. */
export function chosenOf(decision: Decision | undefined, record: RecordOf<'branched'>): Choice {
  const { scores, chosen } = record
  const candidates = record.candidates ?? (decision?.kind === 'branch' ? decision.candidates : [])
  const details = { candidates: candidates.map((each) => choiceOfDecision(each).payload), scores: [...scores], chosen }
  const taken = chosen === null ? undefined : candidates[chosen]
  if (taken === undefined) return makeDecision('branch', [], details)
  const { kind, calls, payload } = choiceOfDecision(taken)
  return makeDecision(kind, calls, { ...payload, ...details })
}

const makeDecision = (kind: Choice['kind'], calls: readonly ToldCall[], payload: Payload): Choice => ({
  kind,
  calls,
  payload: { kind, ...payload },
})

function textArgument(args: string, key: string): string {
  try {
    const word = (JSON.parse(args) as Record<string, unknown>)[key]
    return typeof word === 'string' ? shortened(word) : ''
  } catch {
    return ''
  }
}

export const resultOf = (tool: string, { result }: RecordOf<'call_settled'>): Json => ({
  tool,
  status: result.status,
  content: shortened(result.content),
})

export const diffPayload = (patch: RecordOf<'step_committed'>['patch']): Payload => ({
  state_diff: patch === undefined ? null : truncateValue(patch, MAX_DIFF),
})

export const verdictOf = ({ critic, verdict }: { readonly critic: string; readonly verdict: Verdict }): Json => {
  switch (verdict.kind) {
    case 'continue':
      return { critic, kind: verdict.kind }
    case 'retry':
      return {
        ...{ critic, kind: verdict.kind, instruction: shortened(verdict.instruction) },
        ...(verdict.attempt === undefined ? {} : { attempt: { ...verdict.attempt } }),
      }
    case 'stop':
      return {
        ...{ critic, kind: verdict.kind, reason: shortened(verdict.reason) },
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
      return { parked: shortened(next.wait.reason), ...(next.feedback === undefined ? {} : { attempt: true }) }
    case 'end':
      return { stop_reason: next.stop_reason }
    default:
      return assertNever(next)
  }
}

export const endPayload = ({
  stop_reason,
  answer,
  failure_class,
  issues,
  failure_report,
}: RecordOf<'run_ended'>): Payload => ({
  stop_reason,
  ...(answer === undefined ? {} : { answer: shortened(answer) }),
  ...(failure_class === undefined ? {} : { failure_class }),
  ...(issues === undefined
    ? {}
    : { issues: issues.map(({ code, message }) => ({ code, message: shortened(message) })) }),
  ...(failure_report === undefined ? {} : { failure_report }),
})
