/**
 * Shapes of journal records. Only fields that are read are checked, and newer fields are optional, so that records of
 * earlier versions stay readable.
 */

import { CALL_STATUSES, type Decision, type Next } from '../../../domain/decision.ts'
import { REACHES, RECOVERIES } from '../../../domain/effect.ts'
import type { Observation } from '../../../domain/observation.ts'
import type { JournalRecord } from '../../../domain/record.ts'
import { FAILING_PHASES } from '../../../domain/record.ts'
import { STOP_REASONS } from '../../../domain/stop.ts'
import { TRUSTS } from '../../../domain/trust.ts'
import type { Wait } from '../../../domain/wait.ts'
import {
  anything,
  count,
  fields,
  instant,
  listOf,
  number,
  oneOf,
  orAbsent,
  orNull,
  type Shape,
  text,
  time,
  truth,
  union,
  valuesOf,
} from './shape.ts'

export const label = fields({ trust: oneOf(TRUSTS), private: truth })
export const effect = fields({ recovery: oneOf(RECOVERIES), reach: oneOf(REACHES), host: orAbsent(text) })

/** `when`: the shape of its timestamps. */
export const observation = (when: Shape): Shape => {
  const common = { id: text, ts: when, label: orAbsent(label) }
  return union('type', {
    user_message: fields({ ...common, text }),
    system_event: fields({ ...common, name: text }),
  } satisfies Record<Observation['type'], Shape>)
}

export const wait = (when: Shape): Shape =>
  union('kind', {
    start: fields({ until: when, reason: text }),
    retry: fields({ until: when, reason: text }),
    observation: fields({ match: text, until: when, reason: text }),
    unknown: fields({ unknown_id: text, until: oneOf([null]), reason: text }),
  } satisfies Record<Wait['kind'], Shape>)

const usage = fields({ input_tokens: number, output_tokens: number, cached_tokens: number })
const call = fields({ id: text, tool: text })
const calls = listOf(call)

const decision: Shape = union('kind', {
  act: fields({ calls }),
  final: fields({ answer: text, via: orAbsent(call) }),
  wait: fields({ match: text, reason: text, until: orAbsent(time), via: orAbsent(call) }),
  branch: fields({ candidates: listOf((value) => decision(value)) }),
  invalid: fields({ feedback: text, calls }),
} satisfies Record<Decision['kind'], Shape>)

const next = union('kind', {
  continue: fields({ feedback: orAbsent(text) }),
  park: fields({ wait: wait(time) }),
  end: fields({ stop_reason: oneOf(STOP_REASONS), answer: orAbsent(text), error: orAbsent(text) }),
} satisfies Record<Next['kind'], Shape>)

const answer = fields({
  text,
  calls: listOf(fields({ id: text, tool: text, args: text })),
  finish: oneOf(['stop', 'calls', 'length']),
  usage,
})

const setup = fields({
  model: orNull(text),
  parser: text,
  memory: text,
  critics: listOf(text),
  tools: listOf(text),
  state_version: number,
  // As configured; the preflight check reports invalid budgets.
  budget: valuesOf(anything),
})

const composition = fields({ sections: valuesOf(number), bytes: number, cached: number, prefix: text })
const patch = fields({})

const SHAPES: Readonly<Record<JournalRecord['kind'], Shape>> = {
  run_started: fields({ run_id: text, agent_id: text, behaviour: text, task: text, setup }),
  input_bound: fields({ turn: count, input: listOf(observation(time)), feedback: orAbsent(text) }),
  cut: fields({ turn: count, cut: fields({ from: number, summary: text, recalled: listOf(text) }) }),
  model_requested: fields({
    ...{ turn: count, model: text, from: number, upto: number, compiler: number, digest: text },
    ...{ prepared: orAbsent(text), composition: orAbsent(composition), reserved: orAbsent(number) },
  }),
  failed: fields({
    ...{ turn: count, phase: oneOf(FAILING_PHASES), code: text, message: text },
    ruling: union('kind', { retry: fields({ until: orNull(time) }), feedback: anything, stop: anything }),
  }),
  model_answered: fields({ turn: count, answer, usd: orAbsent(number) }),
  decided: fields({ turn: count, decision }),
  branched: fields({ turn: count, scores: listOf(orNull(number)), chosen: orNull(number) }),
  call_intended: fields({ turn: count, index: count, attempt: count, call, effect }),
  call_settled: fields({
    ...{ turn: count, index: count, call_id: text, label: orAbsent(label) },
    result: fields({ status: oneOf(CALL_STATUSES), content: text }),
  }),
  intent_fixed: fields({
    ...{ turn: count, words: number, usage, usd: orAbsent(number) },
    needs: listOf(fields({ tool: text, to: orAbsent(listOf(text)) })),
  }),
  step_committed: fields({
    ...{ turn: count, next, ms: number, patch: orAbsent(patch) },
    verdicts: orAbsent(listOf(fields({ critic: text, verdict: fields({ kind: text }) }))),
  }),
  migrated: fields({ version: number, patch: orAbsent(patch) }),
  refitted: fields({ setup }),
  diagnosed: fields({ turn: number, about: text, message: text }),
  run_ended: fields({ run_id: text, stop_reason: oneOf(STOP_REASONS), answer: orAbsent(text), error: orAbsent(text) }),
}

const numberedShape = fields({ seq: count, ts: instant })
export const record = union('kind', SHAPES)

/** Contract: why the records of a journal entry are invalid; undefined if valid. `seq`: expected first number. */
export function whyNoEntry(records: unknown, seq: number): string | undefined {
  if (!Array.isArray(records) || records.length === 0) return 'expected a list of records'
  for (let i = 0; i < records.length; i += 1) {
    const problem = numberedShape(records[i]) ?? record(records[i])
    if (problem !== undefined) return `record ${seq + i}: ${problem}`
    if (records[i].seq !== seq + i) return `record ${seq + i}: its number is ${records[i].seq}`
  }
  return undefined
}
