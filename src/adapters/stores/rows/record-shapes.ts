/**
 * Shapes of journal records. Only fields that are read are checked, and newer fields are optional, so that records of
 * earlier versions stay readable.
 */

import { CALL_STATUSES, type Decision, type Next } from '../../../domain/decision.ts'
import { REACHES, RECOVERIES } from '../../../domain/effect.ts'
import type { JournalRecord } from '../../../domain/journal-record.ts'
import { FAILING_PHASES } from '../../../domain/journal-record.ts'
import { TRUSTS } from '../../../domain/label.ts'
import type { Observation } from '../../../domain/observation.ts'
import { STOP_REASONS } from '../../../domain/stop-reason.ts'
import type { Wait } from '../../../domain/wait.ts'
import {
  describeInvalid,
  listOf,
  oneOf,
  orAbsent,
  orNull,
  type StoredShape,
  storedAny,
  storedBoolean,
  storedCount,
  storedInstant,
  storedNumber,
  storedObject,
  storedRecordOf,
  storedText,
  storedTime,
  storedUnion,
} from './value-shapes.ts'

export const labelShape = storedObject({ trust: oneOf(TRUSTS), private: storedBoolean })
export const effectShape = storedObject({
  recovery: oneOf(RECOVERIES),
  reach: oneOf(REACHES),
  host: orAbsent(storedText),
})

/** `when`: the shape of the observation's timestamp. */
export const observationShape = (when: StoredShape): StoredShape => {
  const common = { id: storedText, ts: when, label: orAbsent(labelShape) }
  return storedUnion('type', {
    user_message: storedObject({ ...common, text: storedText }),
    system_event: storedObject({ ...common, name: storedText }),
  } satisfies Record<Observation['type'], StoredShape>)
}

export const waitShape = (when: StoredShape): StoredShape =>
  storedUnion('kind', {
    start: storedObject({ until: when, reason: storedText }),
    retry: storedObject({ until: when, reason: storedText }),
    observation: storedObject({ match: storedText, until: when, reason: storedText }),
    unknown: storedObject({ unknown_id: storedText, until: oneOf([null]), reason: storedText }),
  } satisfies Record<Wait['kind'], StoredShape>)

const usage = storedObject({ input_tokens: storedNumber, output_tokens: storedNumber, cached_tokens: storedNumber })
const call = storedObject({ id: storedText, tool: storedText })
const calls = listOf(call)

const decision: StoredShape = storedUnion('kind', {
  act: storedObject({ calls }),
  final: storedObject({ answer: storedText, via: orAbsent(call) }),
  wait: storedObject({ match: storedText, reason: storedText, until: orAbsent(storedTime), via: orAbsent(call) }),
  branch: storedObject({ candidates: listOf((value) => decision(value)) }),
  invalid: storedObject({ feedback: storedText, calls }),
} satisfies Record<Decision['kind'], StoredShape>)

const next = storedUnion('kind', {
  continue: storedObject({ feedback: orAbsent(storedText) }),
  park: storedObject({ wait: waitShape(storedTime), feedback: orAbsent(storedText) }),
  become: storedObject({ behaviour: storedText, params: storedRecordOf(storedText), why: storedText }),
  end: storedObject({ stop_reason: oneOf(STOP_REASONS), answer: orAbsent(storedText), error: orAbsent(storedText) }),
} satisfies Record<Next['kind'], StoredShape>)

const answer = storedObject({
  text: storedText,
  calls: listOf(storedObject({ id: storedText, tool: storedText, args: storedText })),
  finish: oneOf(['stop', 'calls', 'length']),
  usage,
})

const setup = storedObject({
  model: orNull(storedText),
  parser: storedText,
  memory: storedText,
  critics: listOf(storedText),
  tools: listOf(storedText),
  state_version: storedNumber,
  // The budget is stored as configured; the preflight check reports an invalid one.
  budget: storedRecordOf(storedAny),
})

const remembered = storedObject({
  ...{ from: storedNumber, summary: storedText, recalled: listOf(storedText) },
  messages: orAbsent(listOf(storedObject({ text: storedText, label: orAbsent(labelShape) }))),
})

const composition = storedObject({
  sections: storedRecordOf(storedNumber),
  bytes: storedNumber,
  cached: storedNumber,
  prefix: storedText,
})
const patch = storedObject({})

const SHAPES: Readonly<Record<JournalRecord['kind'], StoredShape>> = {
  run_started: storedObject({
    run_id: storedText,
    agent_id: storedText,
    behaviour: storedText,
    params: orAbsent(storedRecordOf(storedText)),
    task: storedText,
    setup,
    outputs: orAbsent(listOf(storedText)),
  }),
  input_bound: storedObject({
    turn: storedCount,
    input: listOf(observationShape(storedTime)),
    feedback: orAbsent(storedText),
    memory: orAbsent(remembered),
  }),
  cut: storedObject({
    turn: storedCount,
    cut: storedObject({ from: storedNumber, summary: storedText, recalled: listOf(storedText) }),
  }),
  model_requested: storedObject({
    ...{
      turn: storedCount,
      model: storedText,
      from: storedNumber,
      upto: storedNumber,
      compiler: storedNumber,
      digest: storedText,
    },
    ...{ prepared: orAbsent(storedText), composition: orAbsent(composition), reserved: orAbsent(storedNumber) },
  }),
  failed: storedObject({
    ...{ turn: storedCount, phase: oneOf(FAILING_PHASES), code: storedText, message: storedText },
    rule: orAbsent(storedText),
    ruling: storedUnion('kind', {
      retry: storedObject({ until: orNull(storedTime) }),
      feedback: storedObject({ text: orAbsent(storedText), until: orAbsent(storedTime) }),
      stop: storedAny,
    }),
  }),
  model_answered: storedObject({ turn: storedCount, answer, usd: orAbsent(storedNumber) }),
  decided: storedObject({ turn: storedCount, decision }),
  branched: storedObject({ turn: storedCount, scores: listOf(orNull(storedNumber)), chosen: orNull(storedNumber) }),
  call_intended: storedObject({
    turn: storedCount,
    index: storedCount,
    attempt: storedCount,
    call,
    effect: effectShape,
  }),
  call_settled: storedObject({
    ...{ turn: storedCount, index: storedCount, call_id: storedText, label: orAbsent(labelShape) },
    result: storedObject({ status: oneOf(CALL_STATUSES), content: storedText }),
  }),
  intent_fixed: storedObject({
    ...{ turn: storedCount, words: storedNumber, usage, usd: orAbsent(storedNumber) },
    needs: listOf(storedObject({ tool: storedText, to: orAbsent(listOf(storedText)) })),
  }),
  step_committed: storedObject({
    ...{ turn: storedCount, next, ms: storedNumber, patch: orAbsent(patch) },
    verdicts: orAbsent(listOf(storedObject({ critic: storedText, verdict: storedObject({ kind: storedText }) }))),
  }),
  migrated: storedObject({ version: storedNumber, patch: orAbsent(patch) }),
  refitted: storedObject({ setup }),
  became: storedObject({ behaviour: storedText, setup }),
  diagnosed: storedObject({ turn: storedNumber, about: storedText, message: storedText }),
  run_ended: storedObject({
    run_id: storedText,
    stop_reason: oneOf(STOP_REASONS),
    answer: orAbsent(storedText),
    error: orAbsent(storedText),
  }),
}

const numberedShape = storedObject({ seq: storedCount, ts: storedInstant })
export const journalRecordShape = storedUnion('kind', SHAPES)

/**
 * Contract: why the records of a journal entry are invalid; undefined if valid. `seq`: expected number of the first
 * record.
 */
export function describeInvalidEntry(records: unknown, seq: number): string | undefined {
  if (!Array.isArray(records) || records.length === 0) return 'expected a list of records'
  for (let i = 0; i < records.length; i += 1) {
    const problem = describeInvalid(numberedShape, records[i]) ?? describeInvalid(journalRecordShape, records[i])
    if (problem !== undefined) return `record ${seq + i}: ${problem}`
    if (records[i].seq !== seq + i) return `record ${seq + i}: its number is ${records[i].seq}`
  }
  return undefined
}
