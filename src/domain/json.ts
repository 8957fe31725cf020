/**
 * Plain data: values that can be journalled and read back unchanged. Values from plugins are checked and copied in one
 * walk, so that nothing is lost silently and no plugin keeps a reference to the engine's data.
 */

import { type ErrorCode, TirelessError } from './error.ts'
import { truncateText } from './truncate.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Contract: the value; undefined if the text is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Limits for one value, including everything inside it. */
const MAX_DEPTH = 256
const MAX_VALUES = 1_000_000
const MAX_CHARACTERS = 16_000_000

interface PlainDataRules {
  /** Names the value and where it comes from, for the error message. */
  readonly what: string
  readonly code: ErrorCode
  /**
   * What to do with a key whose value is undefined: `refuse` it, if a missing key would mean something else, or `omit`
   * it.
   */
  readonly undefinedKeys: 'refuse' | 'omit'
}

interface CopyState extends PlainDataRules {
  /** Keys and indexes from the root to the current value, and the objects on that path. */
  readonly path: (string | number)[]
  readonly ancestors: object[]
  values: number
  characters: number
}

/**
 * Contract: returns a copy that shares nothing with the value. If the value is not plain data, throws `rules.code` with
 * the path of the wrong part. Always terminates.
 */
export function copyPlainData(value: unknown, rules: PlainDataRules): Json {
  const walk: CopyState = { ...rules, path: [], ancestors: [], values: 0, characters: 0 }
  try {
    return copyValue(value, walk)
  } catch (thrown) {
    if (thrown instanceof TirelessError) throw thrown
    // A proxy can throw on every access.
    throw notPlainError(walk, `a value that cannot be read (${describeThrown(thrown)})`, EXPECTED_PLAIN)
  }
}

/** Contract: copies plain data without checking it. */
export function copyJson<T extends Json>(value: T): T {
  return copyUnchecked(value) as T
}

function copyUnchecked(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyUnchecked)
  const copy: Record<string, Json> = {}
  for (const key of Object.keys(value)) setOwn(copy, key, copyUnchecked((value as Record<string, Json>)[key] as Json))
  return copy
}

/** Contract: whether parsed JSON is nested deeper than a value may be that passes a port. */
export function isTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value]
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth += 1)
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  return level.length > 0
}

/** Contract: freezes the value at every depth and returns it. Only for the program's own plain data. */
export function deepFreeze<T>(value: T): T {
  if (isUnfrozenObject(value)) freezeAll(value as Record<string, unknown>)
  return value
}

/** Must be fast: every record and event passes through here. */
function freezeAll(value: Record<string, unknown>): void {
  Object.freeze(value)
  for (const key in value) {
    const inner = value[key]
    if (isUnfrozenObject(inner)) freezeAll(inner as Record<string, unknown>)
  }
}

const isUnfrozenObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Object.isFrozen(value)

function copyValue(value: unknown, walk: CopyState): Json {
  walk.values += 1
  if (walk.values > MAX_VALUES) throw notPlainError(walk, `more than ${MAX_VALUES} values`, `at most ${MAX_VALUES}`)
  switch (typeof value) {
    case 'string':
      countCharacters(value, walk)
      return value
    case 'boolean':
      return value
    case 'number':
      if (!Number.isFinite(value)) throw notPlainError(walk, String(value), 'a finite number')
      // JSON has no negative zero.
      return value === 0 ? 0 : value
    case 'object':
      return value === null ? null : copyObject(value, walk)
    default:
      throw notPlainError(walk, describeValue(value), EXPECTED_PLAIN)
  }
}

function copyObject(value: object, walk: CopyState): Json {
  if (walk.ancestors.includes(value)) throw notPlainError(walk, 'an object that contains itself', EXPECTED_PLAIN)
  if (walk.path.length > MAX_DEPTH)
    throw notPlainError(walk, `more than ${MAX_DEPTH} levels of nesting`, `at most ${MAX_DEPTH}`)
  walk.ancestors.push(value)
  const copy = Array.isArray(value) ? copyList(value, walk) : copyFields(value, walk)
  walk.ancestors.pop()
  return copy
}

function copyList(list: readonly unknown[], walk: CopyState): Json {
  const copy: Json[] = []
  for (let i = 0; i < list.length; i++) {
    walk.path.push(i)
    copy.push(copyValue(readFrom(list, i, walk), walk))
    walk.path.pop()
  }
  return copy
}

function copyFields(fields: object, walk: CopyState): Json {
  if (!isObjectLiteral(fields)) throw notPlainError(walk, describeValue(fields), EXPECTED_PLAIN)
  const copy: Record<string, Json> = {}
  for (const key of Object.keys(fields)) {
    walk.path.push(key)
    countCharacters(key, walk)
    const value = readFrom(fields, key, walk)
    if (value !== undefined || walk.undefinedKeys === 'refuse') setOwn(copy, key, copyValue(value, walk))
    walk.path.pop()
  }
  return copy
}

/** Sets a key that may be `__proto__`, where an assignment would change the prototype instead. */
function setOwn(copy: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__')
    Object.defineProperty(copy, key, { value, enumerable: true, writable: true, configurable: true })
  else copy[key] = value
}

function readFrom(of: object, key: string | number, walk: CopyState): unknown {
  try {
    return Reflect.get(of, key)
  } catch (thrown) {
    throw notPlainError(walk, `a property that cannot be read (${describeThrown(thrown)})`, EXPECTED_PLAIN)
  }
}

function countCharacters({ length }: string, walk: CopyState): void {
  walk.characters += length
  if (walk.characters > MAX_CHARACTERS)
    throw notPlainError(walk, `more than ${MAX_CHARACTERS} characters`, `at most ${MAX_CHARACTERS}`)
}

const EXPECTED_PLAIN = 'null, true, false, a finite number, a text, or a list or plain object of these'

function notPlainError({ what, code, path }: CopyState, got: string, expected: string): TirelessError {
  return new TirelessError(code, {
    what: `${what} is not plain data`,
    where: path.length === 0 ? undefined : `at ${pathText(path)}`,
    got,
    expected,
  })
}

function pathText(path: readonly (string | number)[]): string {
  const whole = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
  return truncateText(whole, 200)
}

/** True for object literals, also from another realm (such as a `node:vm` context). */
function isObjectLiteral(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
}

const MAX_DESCRIPTION = 200

/** Contract: describes a value for an error message; never throws. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value.length > MAX_DESCRIPTION
        ? `a text of ${value.length} characters`
        : `the text ${JSON.stringify(value)}`
    case 'bigint':
      return 'a BigInt'
    case 'symbol':
    case 'function':
      return `a ${typeof value}`
    case 'object':
      return value === null ? 'null' : describeObject(value)
    default:
      return String(value)
  }
}

function describeObject(value: object): string {
  try {
    if (value instanceof Promise) return 'a promise'
    if (!Array.isArray(value) && !isObjectLiteral(value)) return `an instance of ${value.constructor.name || 'a class'}`
    return truncateText(JSON.stringify(value), MAX_DESCRIPTION)
  } catch {
    return 'an object that cannot be written as JSON'
  }
}

const describeThrown = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : describeValue(thrown))

/** Contract: after this, a rejected promise inside the value that no code awaits does not end the process. */
export function ignoreRejections(value: unknown, depth = 4): void {
  if (typeof value !== 'object' || value === null) return
  try {
    if (value instanceof Promise) value.catch(() => {})
    else if (depth > 0)
      for (const key of Object.keys(value).slice(0, 100)) ignoreRejections(Reflect.get(value, key), depth - 1)
  } catch {}
}
