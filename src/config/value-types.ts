/**
 * Value types of configuration keys. Convention: every message here completes the phrase "expected …";
 * explain-problems.ts writes the rest of the sentence.
 */

import { z } from 'zod'
import { parseAllowedHost } from '../domain/address.ts'
import { parseDuration } from '../domain/duration.ts'
import type { Json } from '../domain/json.ts'
import { EXPECTED_DURATION, MAX_DURATION_MS, MAX_PRICE, MAX_TOKENS, MAX_USD } from '../domain/limits.ts'
import type { ScheduleSpec } from '../domain/schedule.ts'

const NAME = 'a name of 1 to 64 safe characters (A-Z a-z 0-9 . _ -) that begins with a letter, a digit or _'
/** Ids become folder names and command arguments: no slash, no leading dot or dash, no shell characters. */
export const safeName = z.string(NAME).regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/, NAME)

const AGENT_NAME =
  'a name of 1 to 64 safe characters (A-Z a-z 0-9 . _ - and Chinese) that begins with a letter, a digit or _'
/** Like `safeName`; people who write Chinese name their agents so. */
export const agentName = z
  .string(AGENT_NAME)
  .regex(/^[\p{Script=Han}A-Za-z0-9_][\p{Script=Han}A-Za-z0-9._-]{0,63}$/u, AGENT_NAME)

const TEXT = 'text that is not empty'
export const nonEmptyText = z.string().regex(/\S/, TEXT)

const WORD = 'text without spaces'
export const textWithoutSpaces = z.string(WORD).regex(/^\S+$/, WORD)

const VARIABLE = 'the name of an environment variable (not its value)'
export const variableName = z.string(VARIABLE).regex(/^[A-Za-z_][A-Za-z0-9_]*$/, VARIABLE)

const LINK = 'an address that begins with http:// or https://'
export const httpUrl = z.string(LINK).refine((value) => /^https?:\/\//i.test(value) && URL.canParse(value), LINK)

const HOST = 'a host such as api.example.com, *.example.com or 127.0.0.1:8080, without scheme or path'
export const hostPattern = z.string(HOST).refine((value) => parseAllowedHost(value) !== undefined, HOST)

/** The YAML reader produces JSON values only, so an unchecked value is Json. */
const anyJson = z.unknown() as z.ZodType<Json, Json>
export const anyMapping = z.record(z.string(), anyJson)

const COUNT = 'a whole number above 0'
const TOKENS = `a whole number from 1 to ${MAX_TOKENS}`
const UNLIMITED = ', or null for no limit'
export const positiveCount = z.int(COUNT).positive(COUNT)
export const countLimit = z
  .int(COUNT + UNLIMITED)
  .positive(COUNT + UNLIMITED)
  .nullable()
export const tokenCount = z.int(TOKENS).positive(TOKENS).max(MAX_TOKENS, TOKENS)
export const tokenLimit = z
  .int(TOKENS + UNLIMITED)
  .positive(TOKENS + UNLIMITED)
  .max(MAX_TOKENS, TOKENS + UNLIMITED)
  .nullable()
export const usdLimit = positiveUpTo(MAX_USD).nullable()
export const minutesLimit = positiveUpTo(MAX_DURATION_MS / 60_000).nullable()
export const daysLimit = positiveUpTo(MAX_DURATION_MS / 86_400_000).nullable()

function positiveUpTo(max: number) {
  const expected = `a number above 0, at most ${max}${UNLIMITED}`
  return z.number(expected).positive(expected).max(max, expected)
}

const PRICE = `a price in USD per million tokens, from 0 to ${MAX_PRICE}`
export const tokenPrice = z.number(PRICE).min(0, PRICE).max(MAX_PRICE, PRICE)

export function numberRange(min: number, max: number) {
  const expected = `a number from ${min} to ${max}`
  return z.number(expected).min(min, expected).max(max, expected)
}

/** Converts a text with a unit, or a number of seconds. Contract: undefined if the value is invalid. */
function milliseconds(value: string | number): number | undefined {
  const text = String(value).trim()
  return parseDuration(/\d$/.test(text) ? `${text}s` : text)
}

/** The remedy for a limit of 0. */
export const NO_LIMIT = 'write null if you want no limit'

const EXAMPLE = 'write 30s, for example'

function duration(least: number, also: string, fixForZero = EXAMPLE) {
  const expected = `${EXPECTED_DURATION}, or a number of seconds${also}`
  return z.union([z.string(), z.number()], expected).transform((value, context) => {
    const ms = milliseconds(value)
    if (ms !== undefined && ms >= least) return ms
    context.addIssue(customIssue(expected, value, value === 0 ? fixForZero : EXAMPLE))
    return z.NEVER
  })
}

/** All durations are converted to milliseconds. */
export const pauseDuration = duration(0, '')
export const positiveDuration = duration(1, ', above 0')
export const timeLimit = duration(1, `, above 0${UNLIMITED}`, NO_LIMIT).nullable()

const CRON =
  'a schedule: a cron line of five or six fields ("*/10 * * * *", several with ; between them), ' +
  '@hourly @daily @weekly @monthly @yearly, ' +
  '{every: 30s} or {at: 2026-01-31T09:00:00Z}'
const NICKNAME = /^@(hourly|daily|midnight|weekly|monthly|yearly|annually)$/
const CRON_FIELDS = /^\s*([0-9A-Za-z*/,?#+-]+\s+){4,5}[0-9A-Za-z*/,?#+-]+\s*$/
const AT = 'an instant such as 2026-01-31T09:00:00Z or 2026-01-31T09:00:00+08:00'

/** Checks the shape only; the scheduler parses the cron line. */
export const cronLine = z
  .string()
  .refine((value) => value.split(';').every((line) => NICKNAME.test(line.trim()) || CRON_FIELDS.test(line)), CRON)
export const instantText = z.iso.datetime({ offset: true, local: true, error: AT })
const everyOrAt = z
  .strictObject({
    every: positiveDuration.optional(),
    at: instantText.optional(),
  })
  .superRefine(exactlyOne('every', 'at'), { when: isMapping })
  .transform(({ every, at }): ScheduleSpec => (every === undefined ? { at: String(at) } : { every }))
export const scheduleValue = z.union([cronLine, everyOrAt], CRON)

const ZONE = 'a time zone such as Asia/Shanghai or UTC'
export const timezoneName = z.string(ZONE).refine(isTimezone, ZONE)

function isTimezone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}

const HOURS = 'hours such as "22:00-07:00"'
export const hoursRange = z.string(HOURS).regex(/^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$/, HOURS)

/** For checks over several keys: they run even if one key is invalid, so that all problems are reported at once. */
export function isMapping(payload: { readonly value: unknown }): boolean {
  return typeof payload.value === 'object' && payload.value !== null && !Array.isArray(payload.value)
}

/**
 * A mapping with names chosen by the user. `z.record(name, …)` would skip the checks inside an entry with a bad name.
 */
export function namedMapping<V extends z.ZodType>(names: z.ZodType<string>, value: V) {
  return z.record(z.string(), value).superRefine(
    (mapping, context) => {
      for (const key of Object.keys(mapping)) {
        const message = names.safeParse(key).error?.issues[0]?.message
        if (message) context.addIssue({ ...customIssue(message, key, 'rename the key'), path: [key] })
      }
    },
    { when: isMapping },
  )
}

/** The three ways to name a secret; refine with `exactlyOne`. */
export const secretKeys = {
  secret: nonEmptyText.optional().describe('prefer secret:NAME, secret_env or secret_file'),
  secret_env: variableName.optional(),
  secret_file: nonEmptyText.optional().describe('relative to the configuration file'),
}

type Refinement<T> = (value: T, context: z.core.$RefinementCtx<T>) => void

export function exactlyOne<K extends string>(...keys: readonly K[]): Refinement<{ readonly [P in K]?: unknown }> {
  return (value, context) => {
    if (keys.filter((key) => value[key] !== undefined).length === 1) return
    context.addIssue(customIssue(`exactly one of ${keys.join(', ')}`, value, 'write one of them'))
  }
}

export function atMostOne<K extends string>(...keys: readonly K[]): Refinement<{ readonly [P in K]?: unknown }> {
  return (value, context) => {
    if (keys.filter((key) => value[key] !== undefined).length <= 1) return
    context.addIssue(customIssue(`at most one of ${keys.join(', ')}`, value, 'keep one of them'))
  }
}

export function customIssue(message: string, input: unknown, fix: string) {
  return { code: 'custom' as const, message, input, params: { fix } }
}

/** Ids are compared without case: they are folder names, and some file systems ignore case. */
export function uniqueIds(list: readonly { readonly agent_id: string }[], context: z.RefinementCtx): void {
  const first = new Map<string, number>()
  for (const [index, entry] of list.entries()) {
    const id = typeof entry?.agent_id === 'string' ? entry.agent_id.toLowerCase() : undefined
    if (id === undefined) continue
    const earlier = first.get(id)
    first.set(id, earlier ?? index)
    if (earlier === undefined) continue
    const message = `an agent_id that differs from entry ${earlier + 1} of the list (case is ignored)`
    context.addIssue({ ...customIssue(message, entry.agent_id, 'change the agent_id'), path: [index, 'agent_id'] })
  }
}
