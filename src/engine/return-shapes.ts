/**
 * The return value of each plugin method: its shape, and a description for error messages.
 * Must not know: who calls the method, and what follows from an invalid value.
 */

import type { Verdict } from '../domain/decision.ts'
import { type Effect, REACHES, RECOVERIES } from '../domain/effect.ts'
import type { Json } from '../domain/json.ts'
import { MAX_DURATION_MS, MAX_INSTANT_MS, MAX_TOKENS } from '../domain/limits.ts'
import type { Answer } from '../domain/record.ts'
import { FAILURE_CLASSES } from '../domain/stop.ts'
import { type Given, TRUSTS } from '../domain/trust.ts'
import type { Match } from '../domain/wait.ts'
import type { SystemPrompt, WantedCall, Wish } from '../ports/behaviour.ts'
import type { Health } from '../ports/env.ts'
import type { Clearance } from '../ports/gate.ts'
import type { MemoryQuery, MemoryView } from '../ports/memory.ts'
import type { Parsed } from '../ports/parser.ts'
import type { AnyTool } from '../ports/tool.ts'
import type { Port } from './ask-plugin.ts'
import {
  anyShape,
  fieldsShape,
  flagShape,
  isFields,
  listShape,
  Misfit,
  matchingShape,
  numberShape,
  oneOfShape,
  optionalShape,
  recordShape,
  type Shape,
  taggedShape,
  textShape,
} from './shape.ts'

const tokens = numberShape({ whole: true, from: 0, upto: MAX_TOKENS })
const count = numberShape({ whole: true, from: 0 })
const texts = listShape(textShape)

const requestedCall = fieldsShape({ id: textShape, tool: textShape, args: textShape })

const answer: Shape<Answer> = fieldsShape(
  {
    text: textShape,
    calls: listShape(requestedCall),
    finish: oneOfShape(['stop', 'calls', 'length']),
    usage: fieldsShape(
      { input_tokens: tokens, output_tokens: tokens, cached_tokens: tokens },
      { written_tokens: tokens },
    ),
  },
  { reasoning: anyShape },
)

export const answerPort = (model: string): Port<Answer> => ({
  who: `model ${model}`,
  method: 'call',
  expected:
    'an answer: { text, calls: [{ id, tool, args }], finish, usage } with token counts that are whole numbers from 0',
  shape: answer,
  code: 'model_garbled',
})

const parsed: Shape<Parsed> = taggedShape('kind', {
  said: fieldsShape(
    { kind: oneOfShape(['said']), text: textShape, calls: listShape(requestedCall) },
    { notes: recordShape(textShape) },
  ),
  fault: fieldsShape({ kind: oneOfShape(['fault']), reason: textShape }),
})

export const parsedPort = (parser: string): Port<Parsed> => ({
  who: `parser ${parser}`,
  method: 'parse',
  expected: "{ kind: 'said', text, calls } or { kind: 'fault', reason }",
  shape: parsed,
})

const textPort = (who: string, method: string): Port<string> => ({
  ...{ who, method, expected: 'a text', shape: textShape },
})

export const instructionsPort = (parser: string): Port<string> => textPort(`parser ${parser}`, 'instructions')
export const preparedPort = (behaviour: string): Port<string> => textPort(`behaviour ${behaviour}`, 'prepare')
export const remainsPort = (tool: string): Port<string> => textPort(`tool ${tool}`, 'remains')

const flagPort = (who: string, method: string): Port<boolean> => ({
  ...{ who, method, expected: 'true or false', shape: flagShape },
})

export const shouldStopPort = (behaviour: string): Port<boolean> => flagPort(`behaviour ${behaviour}`, 'shouldStop')
export const prunePort = (search: string): Port<boolean> => flagPort(`search ${search}`, 'prune')
export const isTerminalPort: Port<boolean> = flagPort('env', 'isTerminal')

const memoryView: Shape<MemoryView> = fieldsShape({ from: count, summary: textShape, recalled: texts })

/** `turn`: the next turn. */
export const memoryViewPort = (memory: string, turn: number): Port<MemoryView> => ({
  who: `memory ${memory}`,
  method: 'retrieve',
  expected: `{ from, summary, recalled } with from a whole number from 0 to ${turn}, a text and a list of texts`,
  shape: memoryView,
})

export const evictPort = (memory: string): Port<number> => ({
  ...{ who: `memory ${memory}`, method: 'evict', expected: 'a whole number from 0' },
  shape: count,
})

const memoryQuery: Shape<MemoryQuery> = fieldsShape({ text: textShape })

export const memoryQueryPort = (behaviour: string): Port<MemoryQuery> => ({
  ...{ who: `behaviour ${behaviour}`, method: 'buildMemoryQuery', expected: '{ text }' },
  shape: memoryQuery,
})

const sections = fieldsShape(
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

export const systemPromptPort = (behaviour: string): Port<SystemPrompt> => ({
  ...{ who: `behaviour ${behaviour}`, method: 'buildSystemPrompt', expected: 'a text, or texts by section' },
  shape: systemPrompt,
})

const optionalJson = optionalShape(anyShape)

/** Undefined: the new input itself is the observation. */
export const observationPort = (behaviour: string): Port<Json | undefined> => ({
  ...{ who: `behaviour ${behaviour}`, method: 'observe', expected: 'plain data, or undefined', code: 'state_invalid' },
  shape: optionalJson,
})

const proposedCall: Shape<WantedCall> = fieldsShape(
  { tool: textShape },
  {
    args: anyShape,
    id: matchingShape(/./s),
    timeoutMs: numberShape({ above: 0, upto: MAX_DURATION_MS }),
  },
)
const match: Shape<Match> = matchingShape(/^(any|user_message|system_event|event:.+)$/s)

/** Any decision except a branch. The candidates of a branch are checked one by one, so invalid ones can be skipped. */
type SingleDecision = Exclude<Wish, { kind: 'branch' }>
const singleDecision: Shape<SingleDecision> = taggedShape('kind', {
  act: fieldsShape({ kind: oneOfShape(['act']), calls: listShape(proposedCall) }, { failFast: flagShape }),
  final: fieldsShape({ kind: oneOfShape(['final']), answer: textShape }, { summary: textShape }),
  wait: fieldsShape(
    { kind: oneOfShape(['wait']), match, reason: textShape },
    { until: numberShape({ whole: true, from: 0, upto: MAX_INSTANT_MS }) },
  ),
})

export const wishPort = (who: string, method: string): Port<SingleDecision> => ({
  ...{ who, method, code: 'decision_invalid' },
  expected:
    "a decision: { kind: 'act', calls: [{ tool, args }] }, { kind: 'final', answer } or " +
    "{ kind: 'wait', match, reason, until? in whole epoch milliseconds, in the years 1970 to 9999 }",
  shape: singleDecision,
})

export const candidatesPort = (search: string): Omit<Port<unknown>, 'shape'> => ({
  ...{ who: `search ${search}`, method: 'expand', expected: 'a list of decisions' },
})

export const scorePort = (search: string): Port<number> => ({
  ...{ who: `search ${search}`, method: 'score', expected: 'a finite number' },
  shape: numberShape(),
})

/** `length`: number of candidates. */
export const selectPort = (search: string, length: number): Port<number> => ({
  ...{ who: `search ${search}`, method: 'select', expected: `an index from 0 to ${length - 1}` },
  shape: count,
})

const verdict: Shape<Verdict> = taggedShape('kind', {
  continue: fieldsShape({ kind: oneOfShape(['continue']) }),
  retry: fieldsShape(
    { kind: oneOfShape(['retry']), instruction: textShape },
    { attempt: fieldsShape({ after_ms: numberShape({ from: 0, upto: MAX_DURATION_MS }) }) },
  ),
  stop: fieldsShape({ kind: oneOfShape(['stop']), reason: textShape }, { failure_class: oneOfShape(FAILURE_CLASSES) }),
})

export const verdictPort = (critic: string): Port<Verdict> => ({
  who: `critic ${critic}`,
  method: 'judge',
  expected: "{ kind: 'continue' }, { kind: 'retry', instruction } or { kind: 'stop', reason }",
  shape: verdict,
})

const clearance: Shape<Clearance> = taggedShape('kind', {
  allow: fieldsShape({ kind: oneOfShape(['allow']) }, { reason: textShape }),
  ask: fieldsShape({ kind: oneOfShape(['ask']), reason: textShape }),
  deny: fieldsShape({ kind: oneOfShape(['deny']), reason: textShape }),
})

export const clearancePort = (gate: string): Port<Clearance> => ({
  who: `gate ${gate}`,
  method: 'judge',
  expected: "{ kind: 'allow' }, { kind: 'ask', reason } or { kind: 'deny', reason }",
  shape: clearance,
})

const effect = fieldsShape(
  { recovery: oneOfShape(RECOVERIES), reach: oneOfShape(REACHES) },
  { host: textShape, writes: flagShape, method: textShape, publishes: flagShape, unseen: flagShape },
) as Shape<Effect>

const EXPECTED_EFFECT = `{ recovery: ${RECOVERIES.join('|')}, reach: ${REACHES.join('|')} }`

export const effectPort = (tool: string): Port<Effect> => ({
  who: `tool ${tool}`,
  method: 'effect',
  expected: EXPECTED_EFFECT,
  shape: effect,
})

const optionalText = optionalShape(textShape)

/** The reason why a call is refused or needs approval; undefined: it does not. */
export const reasonPort = (tool: string, method: 'refuses' | 'asks'): Port<string | undefined> => ({
  ...{ who: `tool ${tool}`, method, expected: 'a text, or undefined' },
  shape: optionalText,
})

export const destinationsPort = (tool: string): Port<readonly string[]> => ({
  ...{ who: `tool ${tool}`, method: 'destinations', expected: 'a list of texts' },
  shape: texts,
})

export const contentPort = (tool: string): Port<readonly string[]> => ({
  ...{ who: `tool ${tool}`, method: 'content', expected: 'a list of texts' },
  shape: texts,
})

const resultLabel: Shape<Given> = fieldsShape({ trust: oneOfShape([...TRUSTS, 'workspace']), private: flagShape })

export const givenPort = (tool: string): Port<Given> => ({
  ...{ who: `tool ${tool}`, method: 'gives', expected: '{ trust: trusted|untrusted|workspace, private }' },
  shape: resultLabel,
})

/** The facts that the runtime reads. Other fields belong to the tool. */
const facts = fieldsShape(
  {},
  {
    label: fieldsShape({ trust: oneOfShape(TRUSTS), private: flagShape }),
    seen: recordShape(textShape),
    cwd: textShape,
    quoted: flagShape,
  },
)

const anyFacts: Shape<Json> = (value) => {
  if (!isFields(value)) return anyShape(value)
  const known = facts(value)
  return known instanceof Misfit ? known : { ...value, ...(known as Json & object) }
}

export const factsPort = (tool: string): Port<Json> => ({
  ...{ who: `tool ${tool}`, method: 'run', code: 'tool_failed' },
  expected:
    'facts that are plain data: label { trust, private }, seen { path: digest }, cwd a text, quoted true or false',
  shape: anyFacts,
})

type Meant = ReturnType<NonNullable<AnyTool['meant']>>
const meant = optionalShape(fieldsShape({ tool: textShape, args: anyShape }))

export const meantPort = (tool: string): Port<Meant | undefined> => ({
  ...{ who: `tool ${tool}`, method: 'meant', expected: '{ tool, args }' },
  shape: meant,
})

const health: Shape<Health> = taggedShape('ok', {
  true: fieldsShape({ ok: oneOfShape([true]) }),
  false: fieldsShape({ ok: oneOfShape([false]), reason: textShape }),
})

export const healthPort: Port<Health> = {
  ...{ who: 'env', method: 'health', expected: '{ ok: true } or { ok: false, reason }' },
  shape: health,
}
