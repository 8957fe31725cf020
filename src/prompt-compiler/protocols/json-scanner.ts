/** Reads JSON values and calls inside a text. */

import type { Json } from '../../domain/json.ts'
import { normaliseFieldName } from './field-names.ts'
import { refuseAnswer, UnreadableAnswer } from './parser-base.ts'

export type JsonObject = { readonly [key: string]: Json }

/** Maximum nesting of JSON: more than any sensible argument needs, and far from exhausting the stack. */
const DEPTH_LIMIT = 200

/** The index after the object or list that begins at `from`. Brackets inside strings do not count. */
export function findBracketEnd(text: string, from: number): number {
  let depth = 0
  let quoted = false
  for (let i = from; i < text.length; i++) {
    const char = text[i]
    if (quoted) {
      if (char === '\\') i++
      else if (char === '"') quoted = false
    } else if (char === '"') quoted = true
    else if (char === '{' || char === '[') {
      if (++depth > DEPTH_LIMIT) refuseAnswer('retries/unreadable-answer.md#json_too_deep', { limit: DEPTH_LIMIT })
    } else if ((char === '}' || char === ']') && --depth === 0) return i + 1
  }
  return refuseAnswer('retries/unreadable-answer.md#json_unclosed')
}

export function skipSpace(text: string, from: number): number {
  return from + (matchAt(/\s+/y, text, from)?.length ?? 0)
}

/** The match of a sticky pattern at exactly this index. */
export function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

export function readJson(text: string): Json {
  const trimmed = text.trim()
  if (/^[{[]/.test(trimmed)) findBracketEnd(trimmed, 0)
  try {
    return JSON.parse(trimmed, refuseInexact) as Json
  } catch (error) {
    if (error instanceof UnreadableAnswer) throw error
    const why = error instanceof Error ? error.message : ''
    return refuseAnswer('retries/unreadable-answer.md#json_invalid', { error: why })
  }
}

/** Refuses a number that JavaScript would round, such as an id with too many digits. */
function refuseInexact(_key: string, value: Json): Json {
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER)
    refuseAnswer('retries/unreadable-answer.md#number_too_large', { number: value })
  return value
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function jsonToText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const NAME_KEYS = ['name', 'tool', 'type']
const ARGS_KEYS = ['args', 'arguments', 'parameters', 'input', 'payload']

/**
 * Reads a call written as `{"name", "args"}` or `{"type", "payload"}`. A payload that is not an object becomes the
 * argument `payload`.
 */
export function readCallObject(value: Json): { tool: string; args: string } {
  if (!isObject(value)) return refuseAnswer('retries/unreadable-answer.md#action_not_object')
  const [, tool] = singleEntry(value, NAME_KEYS) ?? []
  if (typeof tool !== 'string' || tool === '') return refuseAnswer('retries/unreadable-answer.md#action_without_name')
  const [key = '', args = {}] = singleEntry(value, ARGS_KEYS) ?? []
  if (isObject(args)) return { tool, args: JSON.stringify(args) }
  if (normaliseFieldName(key) !== 'payload')
    refuseAnswer('retries/unreadable-answer.md#action_args_not_object', { tool })
  return { tool, args: JSON.stringify({ payload: args }) }
}

function singleEntry(object: JsonObject, keys: readonly string[]): readonly [string, Json] | undefined {
  const found = Object.entries(object).filter(
    ([key, value]) => keys.includes(normaliseFieldName(key)) && value !== null,
  )
  if (found.length > 1)
    refuseAnswer('retries/unreadable-answer.md#action_keys_repeated', {
      keys: found.map(([key]) => `"${key}"`).join(' and '),
    })
  return found[0]
}
