/**
 * The return value of each plugin method: its shape, and a description for error messages. Those of tools are in
 * tool-shapes.ts.
 * Must not know: who calls the method, and what follows from an invalid value.
 */

import type { Verdict } from '../../domain/decision.ts'
import type { ModelAnswer } from '../../domain/journal-record.ts'
import type { Json } from '../../domain/json.ts'
import { type Label, TRUSTS } from '../../domain/label.ts'
import { MAX_DURATION_MS, MAX_INSTANT_MS, MAX_TOKENS } from '../../domain/limits.ts'
import { FAILURE_CLASSES } from '../../domain/stop-reason.ts'
import type { WaitMatch } from '../../domain/wait.ts'
import type { AfterBehaviour, ProposedCall, ProposedDecision, SystemPrompt } from '../../ports/behaviour.ts'
import type { GateVerdict } from '../../ports/gate.ts'
import type { MemoryMessage, MemoryQuery, MemoryView } from '../../ports/memory.ts'
import type { ParsedAnswer } from '../../ports/parser.ts'
import {
  anyShape,
  booleanShape,
  listShape,
  matchingShape,
  numberShape,
  objectShape,
  oneOfShape,
  optionalShape,
  recordShape,
  type Shape,
  taggedShape,
  textShape,
} from '../shape.ts'
import type { PluginPort } from './ask-plugin.ts'

const tokens = numberShape({ whole: true, from: 0, upto: MAX_TOKENS })
const count = numberShape({ whole: true, from: 0 })
const texts = listShape(textShape)

const requestedCall = objectShape({ id: textShape, tool: textShape, args: textShape })

const answer: Shape<ModelAnswer> = objectShape(
  {
    text: textShape,
    calls: listShape(requestedCall),
    finish: oneOfShape(['stop', 'calls', 'length']),
    usage: objectShape(
      { input_tokens: tokens, output_tokens: tokens, cached_tokens: tokens },
      { written_tokens: tokens },
    ),
  },
  { reasoning: anyShape },
)

export const answerPort = (model: string): PluginPort<ModelAnswer> => ({
  who: `model ${model}`,
  method: 'call',
  expected:
    'an answer: { text, calls: [{ id, tool, args }], finish, usage } with token counts that are whole numbers from 0',
  shape: answer,
  code: 'model_garbled',
})

const parsed: Shape<ParsedAnswer> = taggedShape('kind', {
  said: objectShape(
    { kind: oneOfShape(['said']), text: textShape, calls: listShape(requestedCall) },
    { notes: recordShape(textShape) },
  ),
  fault: objectShape({ kind: oneOfShape(['fault']), reason: textShape }),
})

export const parsedPort = (parser: string): PluginPort<ParsedAnswer> => ({
  who: `parser ${parser}`,
  method: 'parse',
  expected: "{ kind: 'said', text, calls } or { kind: 'fault', reason }",
  shape: parsed,
})

const textPort = (who: string, method: string): PluginPort<string> => ({
  ...{ who, method, expected: 'a text', shape: textShape },
})

export const instructionsPort = (parser: string): PluginPort<string> => textPort(`parser ${parser}`, 'instructions')
export const preparedPort = (behaviour: string): PluginPort<string> => textPort(`behaviour ${behaviour}`, 'prepare')

const flagPort = (who: string, method: string): PluginPort<boolean> => ({
  ...{ who, method, expected: 'true or false', shape: booleanShape },
})

export const shouldStopPort = (behaviour: string): PluginPort<boolean> =>
  flagPort(`behaviour ${behaviour}`, 'shouldStop')
export const keepsThoughtPort = (behaviour: string): PluginPort<boolean> =>
  flagPort(`behaviour ${behaviour}`, 'keepsThought')
export const prunePort = (search: string): PluginPort<boolean> => flagPort(`search ${search}`, 'prune')

const label: Shape<Label> = objectShape({ trust: oneOfShape(TRUSTS), private: booleanShape })
const memoryMessage: Shape<MemoryMessage> = objectShape<{ text: string }, { label: Label }>(
  { text: textShape },
  { label },
)
const memoryView: Shape<MemoryView> = objectShape<Omit<MemoryView, 'messages'>, Pick<Required<MemoryView>, 'messages'>>(
  { from: count, summary: textShape, recalled: texts },
  { messages: listShape(memoryMessage) },
)

/** `turn`: number of the next turn, which is the largest valid `from`. */
export const memoryViewPort = (memory: string, turn: number): PluginPort<MemoryView> => ({
  who: `memory ${memory}`,
  method: 'retrieve',
  expected:
    `{ from, summary, recalled, messages? } with from a whole number from 0 to ${turn}, a text, a list of texts ` +
    'and a list of { text, label? }',
  shape: memoryView,
})

export const evictPort = (memory: string): PluginPort<number> => ({
  ...{ who: `memory ${memory}`, method: 'evict', expected: 'a whole number from 0' },
  shape: count,
})

const memoryQuery: Shape<MemoryQuery> = objectShape({ text: textShape })

export const memoryQueryPort = (behaviour: string): PluginPort<MemoryQuery> => ({
  ...{ who: `behaviour ${behaviour}`, method: 'buildMemoryQuery', expected: '{ text }' },
  shape: memoryQuery,
})

const sections = objectShape(
  {},
  {
    role: textShape,
    process_rules: textShape,
    policy: textShape,
    toolbox: textShape,
    output_protocol: textShape,
    unattended: textShape,
  },
)
const systemPrompt: Shape<SystemPrompt> = (value) => (typeof value === 'string' ? value : sections(value))

export const systemPromptPort = (behaviour: string): PluginPort<SystemPrompt> => ({
  ...{ who: `behaviour ${behaviour}`, method: 'buildSystemPrompt', expected: 'a text, or texts by section' },
  shape: systemPrompt,
})

const optionalJson = optionalShape(anyShape)

/** If observe() returns undefined, the new input itself is the observation. */
export const observationPort = (behaviour: string): PluginPort<Json | undefined> => ({
  ...{ who: `behaviour ${behaviour}`, method: 'observe', expected: 'plain data, or undefined', code: 'state_invalid' },
  shape: optionalJson,
})

const proposedCall: Shape<ProposedCall> = objectShape(
  { tool: textShape },
  {
    args: anyShape,
    id: matchingShape(/./s),
    timeoutMs: numberShape({ above: 0, upto: MAX_DURATION_MS }),
  },
)
const match: Shape<WaitMatch> = matchingShape(/^(any|user_message|system_event|event:.+)$/s)

/**
 * Any decision except a branch. The candidates of a branch are checked one by one, so that invalid candidates can be
 * skipped.
 */
type SingleDecision = Exclude<ProposedDecision, { kind: 'branch' }>
const singleDecision: Shape<SingleDecision> = taggedShape('kind', {
  act: objectShape({ kind: oneOfShape(['act']), calls: listShape(proposedCall) }, { failFast: booleanShape }),
  final: objectShape({ kind: oneOfShape(['final']), answer: textShape }, { summary: textShape }),
  wait: objectShape(
    { kind: oneOfShape(['wait']), match, reason: textShape },
    { until: numberShape({ whole: true, from: 0, upto: MAX_INSTANT_MS }) },
  ),
})

export const decisionPort = (who: string, method: string): PluginPort<SingleDecision> => ({
  ...{ who, method, code: 'decision_invalid' },
  expected:
    "a decision: { kind: 'act', calls: [{ tool, args }] }, { kind: 'final', answer } or " +
    "{ kind: 'wait', match, reason, until? in whole epoch milliseconds, in the years 1970 to 9999 }",
  shape: singleDecision,
})

export const candidatesPort = (search: string): Omit<PluginPort<unknown>, 'shape'> => ({
  ...{ who: `search ${search}`, method: 'expand', expected: 'a list of decisions' },
})

export const scorePort = (search: string): PluginPort<number> => ({
  ...{ who: `search ${search}`, method: 'score', expected: 'a finite number' },
  shape: numberShape(),
})

/** `length`: number of candidates to select from. */
export const selectPort = (search: string, length: number): PluginPort<number> => ({
  ...{ who: `search ${search}`, method: 'select', expected: `an index from 0 to ${length - 1}` },
  shape: count,
})

const afterBehaviour: Shape<AfterBehaviour> = taggedShape('kind', {
  become: objectShape({
    ...{ kind: oneOfShape(['become']), behaviour: textShape, why: textShape },
    params: recordShape(textShape),
  }),
  stay: objectShape({ kind: oneOfShape(['stay']), feedback: textShape }),
  wait: objectShape({ kind: oneOfShape(['wait']), reason: textShape }),
  end: objectShape({ kind: oneOfShape(['end']), answer: textShape }, { error: textShape }),
})

export const afterBehaviourPort = (behaviour: string): PluginPort<AfterBehaviour> => ({
  ...{ who: `behaviour ${behaviour}`, method: 'next' },
  expected:
    "{ kind: 'become', behaviour, params, why }, { kind: 'stay', feedback }, { kind: 'wait', reason } or " +
    "{ kind: 'end', answer, error? }",
  shape: afterBehaviour,
})

const verdict: Shape<Verdict> = taggedShape('kind', {
  continue: objectShape({ kind: oneOfShape(['continue']) }),
  retry: objectShape(
    { kind: oneOfShape(['retry']), instruction: textShape },
    { attempt: objectShape({ after_ms: numberShape({ from: 0, upto: MAX_DURATION_MS }) }), label },
  ),
  stop: objectShape(
    { kind: oneOfShape(['stop']), reason: textShape },
    { failure_class: oneOfShape(FAILURE_CLASSES), label },
  ),
})

export const verdictPort = (critic: string): PluginPort<Verdict> => ({
  who: `critic ${critic}`,
  method: 'judge',
  expected: "{ kind: 'continue' }, { kind: 'retry', instruction } or { kind: 'stop', reason }",
  shape: verdict,
})

const clearance: Shape<GateVerdict> = taggedShape('kind', {
  allow: objectShape({ kind: oneOfShape(['allow']) }, { reason: textShape }),
  ask: objectShape({ kind: oneOfShape(['ask']), reason: textShape }, { label }),
  deny: objectShape({ kind: oneOfShape(['deny']), reason: textShape }, { label }),
})

export const gateVerdictPort = (gate: string): PluginPort<GateVerdict> => ({
  who: `gate ${gate}`,
  method: 'judge',
  expected: "{ kind: 'allow' }, { kind: 'ask', reason } or { kind: 'deny', reason }",
  shape: clearance,
})
