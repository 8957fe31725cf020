/**
 * What each method of a plugin must return: its shape, and that shape in words.
 * Must not know: who asks, and what follows where something else comes back.
 */

import { z } from 'zod'
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

/** It has been checked to be plain data by then. */
const json = z.custom<Json>()
const tokens = z.int().min(0).max(MAX_TOKENS)
// Made once: a schema costs more to make than to use.
const text = z.string()
const flag = z.boolean()
const number = z.number()
const count = z.int().min(0)
const texts = z.array(z.string())
const optionalText = z.string().optional()
const optionalJson = z.custom<Json | undefined>()

const asked = z.object({ id: z.string(), tool: z.string(), args: z.string() })

const answer: z.ZodType<Answer> = z.object({
  text: z.string(),
  calls: z.array(asked),
  finish: z.enum(['stop', 'calls', 'length']),
  usage: z.object({
    input_tokens: tokens,
    output_tokens: tokens,
    cached_tokens: tokens,
    written_tokens: tokens.exactOptional(),
  }),
  reasoning: json.exactOptional(),
})

export const answerPort = (model: string): Port<Answer> => ({
  who: `model ${model}`,
  method: 'call',
  expected:
    'an answer: { text, calls: [{ id, tool, args }], finish, usage } with token counts that are whole numbers from 0',
  shape: answer,
  code: 'model_garbled',
})

const parsed: z.ZodType<Parsed> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('said'),
    text: z.string(),
    calls: z.array(asked),
    notes: z.record(z.string(), z.string()).exactOptional(),
  }),
  z.object({ kind: z.literal('fault'), reason: z.string() }),
])

export const parsedPort = (parser: string): Port<Parsed> => ({
  who: `parser ${parser}`,
  method: 'parse',
  expected: "{ kind: 'said', text, calls } or { kind: 'fault', reason }",
  shape: parsed,
})

const textPort = (who: string, method: string): Port<string> => ({
  ...{ who, method, expected: 'a text', shape: text },
})

export const instructionsPort = (parser: string): Port<string> => textPort(`parser ${parser}`, 'instructions')
export const preparedPort = (behaviour: string): Port<string> => textPort(`behaviour ${behaviour}`, 'prepare')
export const remainsPort = (tool: string): Port<string> => textPort(`tool ${tool}`, 'remains')

const flagPort = (who: string, method: string): Port<boolean> => ({
  ...{ who, method, expected: 'true or false', shape: flag },
})

export const shouldStopPort = (behaviour: string): Port<boolean> => flagPort(`behaviour ${behaviour}`, 'shouldStop')
export const prunePort = (search: string): Port<boolean> => flagPort(`search ${search}`, 'prune')
export const isTerminalPort: Port<boolean> = flagPort('env', 'isTerminal')

const memoryView: z.ZodType<MemoryView> = z.object({ from: count, summary: text, recalled: texts })

/** `turn`: the one that comes next. */
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

const memoryQuery: z.ZodType<MemoryQuery> = z.object({ text })

export const memoryQueryPort = (behaviour: string): Port<MemoryQuery> => ({
  ...{ who: `behaviour ${behaviour}`, method: 'buildMemoryQuery', expected: '{ text }' },
  shape: memoryQuery,
})

const section = z.string().exactOptional()
const systemPrompt: z.ZodType<SystemPrompt> = z.union([
  z.string(),
  z.object({
    role: section,
    process_rules: section,
    policy: section,
    toolbox: section,
    output_protocol: section,
    unattended: section,
  }),
])

export const systemPromptPort = (behaviour: string): Port<SystemPrompt> => ({
  ...{ who: `behaviour ${behaviour}`, method: 'buildSystemPrompt', expected: 'a text, or texts by section' },
  shape: systemPrompt,
})

/** Nothing: what is new is the observation. */
export const observationPort = (behaviour: string): Port<Json | undefined> => ({
  ...{ who: `behaviour ${behaviour}`, method: 'observe', expected: 'plain data, or undefined', code: 'state_invalid' },
  shape: optionalJson,
})

const wanted: z.ZodType<WantedCall> = z.object({
  tool: z.string(),
  args: json.exactOptional(),
  id: z.string().min(1).exactOptional(),
  timeoutMs: z.number().positive().max(MAX_DURATION_MS).exactOptional(),
})
const match = z.string().regex(/^(any|user_message|system_event|event:.+)$/s) as unknown as z.ZodType<Match>

/** A branch is checked candidate by candidate, so that one that is invalid costs the others nothing. */
type OneWish = Exclude<Wish, { kind: 'branch' }>
const wish: z.ZodType<OneWish> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('act'), calls: z.array(wanted), failFast: z.boolean().exactOptional() }),
  z.object({ kind: z.literal('final'), answer: z.string(), summary: z.string().exactOptional() }),
  z.object({
    kind: z.literal('wait'),
    match,
    until: z.int().min(0).max(MAX_INSTANT_MS).exactOptional(),
    reason: z.string(),
  }),
])

export const wishPort = (who: string, method: string): Port<OneWish> => ({
  ...{ who, method, code: 'decision_invalid' },
  expected:
    "a decision: { kind: 'act', calls: [{ tool, args }] }, { kind: 'final', answer } or { kind: 'wait', match, reason, until? in whole epoch milliseconds, in the years 1970 to 9999 }",
  shape: wish,
})

export const candidatesPort = (search: string): Omit<Port<unknown>, 'shape'> => ({
  ...{ who: `search ${search}`, method: 'expand', expected: 'a list of decisions' },
})

export const scorePort = (search: string): Port<number> => ({
  ...{ who: `search ${search}`, method: 'score', expected: 'a finite number' },
  shape: number,
})

/** `length`: of the list that it selects from. */
export const selectPort = (search: string, length: number): Port<number> => ({
  ...{ who: `search ${search}`, method: 'select', expected: `an index from 0 to ${length - 1}` },
  shape: count,
})

const verdict: z.ZodType<Verdict> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('continue') }),
  z.object({
    kind: z.literal('retry'),
    instruction: z.string(),
    attempt: z.object({ after_ms: z.number().min(0).max(MAX_DURATION_MS) }).exactOptional(),
  }),
  z.object({ kind: z.literal('stop'), reason: z.string(), failure_class: z.enum(FAILURE_CLASSES).exactOptional() }),
])

export const verdictPort = (critic: string): Port<Verdict> => ({
  who: `critic ${critic}`,
  method: 'judge',
  expected: "{ kind: 'continue' }, { kind: 'retry', instruction } or { kind: 'stop', reason }",
  shape: verdict,
})

const clearance: z.ZodType<Clearance> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('allow'), reason: z.string().exactOptional() }),
  z.object({ kind: z.literal('ask'), reason: z.string() }),
  z.object({ kind: z.literal('deny'), reason: z.string() }),
])

export const clearancePort = (gate: string): Port<Clearance> => ({
  who: `gate ${gate}`,
  method: 'judge',
  expected: "{ kind: 'allow' }, { kind: 'ask', reason } or { kind: 'deny', reason }",
  shape: clearance,
})

const effect = z.object({
  recovery: z.enum(RECOVERIES),
  reach: z.enum(REACHES),
  host: z.string().exactOptional(),
  writes: z.boolean().exactOptional(),
  method: z.string().exactOptional(),
  publishes: z.boolean().exactOptional(),
  unseen: z.boolean().exactOptional(),
}) as unknown as z.ZodType<Effect>

const EFFECT_IN_WORDS = `{ recovery: ${RECOVERIES.join('|')}, reach: ${REACHES.join('|')} }`

export const effectPort = (tool: string): Port<Effect> => ({
  who: `tool ${tool}`,
  method: 'effect',
  expected: EFFECT_IN_WORDS,
  shape: effect,
})

/** Why a call is refused, or has to be asked about; nothing where it is not. */
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

const given: z.ZodType<Given> = z.object({ trust: z.enum([...TRUSTS, 'workspace']), private: z.boolean() })

export const givenPort = (tool: string): Port<Given> => ({
  ...{ who: `tool ${tool}`, method: 'gives', expected: '{ trust: trusted|untrusted|workspace, private }' },
  shape: given,
})

/** What the runtime itself reads of a result's facts; everything else in them is the tool's. */
const facts = z.looseObject({
  label: z.object({ trust: z.enum(TRUSTS), private: z.boolean() }).exactOptional(),
  seen: z.record(z.string(), z.string()).exactOptional(),
  cwd: z.string().exactOptional(),
  quoted: z.boolean().exactOptional(),
})

const anyFacts = z.union([facts, text, number, flag, z.null(), z.array(json)]) as unknown as z.ZodType<Json>

export const factsPort = (tool: string): Port<Json> => ({
  ...{ who: `tool ${tool}`, method: 'run', code: 'tool_failed' },
  expected:
    'facts that are plain data: label { trust, private }, seen { path: digest }, cwd a text, quoted true or false',
  shape: anyFacts,
})

type Meant = ReturnType<NonNullable<AnyTool['meant']>>
const meant = z.object({ tool: text, args: json }).optional()

export const meantPort = (tool: string): Port<Meant | undefined> => ({
  ...{ who: `tool ${tool}`, method: 'meant', expected: '{ tool, args }' },
  shape: meant,
})

const health: z.ZodType<Health> = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true) }),
  z.object({ ok: z.literal(false), reason: z.string() }),
])

export const healthPort: Port<Health> = {
  ...{ who: 'env', method: 'health', expected: '{ ok: true } or { ok: false, reason }' },
  shape: health,
}
