/**
 * Json, or plain data: what can be journalled, and read back the same. Whatever comes from a plugin is checked and copied in one walk, so that nothing
 * in it vanishes or changes silently, and nobody outside keeps a reference to what the engine works with.
 */

import { type ErrorCode, TirelessError } from './error.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Deeper, larger or longer than this is no data that anybody meant to keep. */
const MOST_DEPTH = 256
const MOST_VALUES = 1_000_000
const MOST_CHARACTERS = 16_000_000

export interface PlainRules {
  /** What it is and whose, for the message. */
  readonly what: string
  readonly code: ErrorCode
  /** A key whose value is undefined: refused where its absence would mean something else, otherwise left out. */
  readonly undefinedKeys: 'refuse' | 'omit'
}

interface Walk extends PlainRules {
  /** Keys and indexes from the root to where it stands, and the objects on that way. */
  readonly path: (string | number)[]
  readonly above: object[]
  values: number
  characters: number
}

/** Contract: a copy that shares nothing with the value; throws the code of the rules, with the path, where it is not plain data. Never hangs. */
export function plainCopy(value: unknown, rules: PlainRules): Json {
  const walk: Walk = { ...rules, path: [], above: [], values: 0, characters: 0 }
  try {
    return copied(value, walk)
  } catch (thrown) {
    if (thrown instanceof TirelessError) throw thrown
    // A proxy can refuse every question that is asked of it.
    throw refusal(walk, `what cannot be read (${describeThrown(thrown)})`, PLAIN)
  }
}

/** Contract: a copy of what is plain data already; quick, and nothing is checked. */
export function copyJson<T extends Json>(value: T): T {
  return copyOf(value) as T
}

function copyOf(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf)
  const copy: Record<string, Json> = {}
  for (const key of Object.keys(value)) setOwn(copy, key, copyOf((value as Record<string, Json>)[key] as Json))
  return copy
}

/** Contract: the same value, which nobody can change from here on, at any depth. Only for plain data that is the program's own. */
export function deepFreeze<T>(value: T): T {
  if (isLoose(value)) freezeAll(value as Record<string, unknown>)
  return value
}

/** Written for speed: it goes through everything that is recorded and told. */
function freezeAll(value: Record<string, unknown>): void {
  Object.freeze(value)
  for (const key in value) {
    const inner = value[key]
    if (isLoose(inner)) freezeAll(inner as Record<string, unknown>)
  }
}

const isLoose = (value: unknown): boolean => typeof value === 'object' && value !== null && !Object.isFrozen(value)

function copied(value: unknown, walk: Walk): Json {
  walk.values += 1
  if (walk.values > MOST_VALUES) throw refusal(walk, `more than ${MOST_VALUES} values`, 'less')
  switch (typeof value) {
    case 'string':
      count(value, walk)
      return value
    case 'boolean':
      return value
    case 'number':
      if (!Number.isFinite(value)) throw refusal(walk, String(value), 'a finite number')
      // JSON knows no negative zero.
      return value === 0 ? 0 : value
    case 'object':
      return value === null ? null : copiedObject(value, walk)
    default:
      throw refusal(walk, describeValue(value), PLAIN)
  }
}

function copiedObject(value: object, walk: Walk): Json {
  if (walk.above.includes(value)) throw refusal(walk, 'an object that contains itself', PLAIN)
  if (walk.path.length > MOST_DEPTH) throw refusal(walk, `more than ${MOST_DEPTH} levels`, 'fewer')
  walk.above.push(value)
  const copy = Array.isArray(value) ? copiedList(value, walk) : copiedFields(value, walk)
  walk.above.pop()
  return copy
}

function copiedList(list: readonly unknown[], walk: Walk): Json {
  const copy: Json[] = []
  for (let i = 0; i < list.length; i++) {
    walk.path.push(i)
    copy.push(copied(readFrom(list, i, walk), walk))
    walk.path.pop()
  }
  return copy
}

function copiedFields(fields: object, walk: Walk): Json {
  if (!isRecord(fields)) throw refusal(walk, describeValue(fields), PLAIN)
  const copy: Record<string, Json> = {}
  for (const key of Object.keys(fields)) {
    walk.path.push(key)
    count(key, walk)
    const value = readFrom(fields, key, walk)
    if (value !== undefined || walk.undefinedKeys === 'refuse') setOwn(copy, key, copied(value, walk))
    walk.path.pop()
  }
  return copy
}

/** Also where the key is `__proto__`, which an assignment would take for something else. */
function setOwn(copy: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__')
    Object.defineProperty(copy, key, { value, enumerable: true, writable: true, configurable: true })
  else copy[key] = value
}

function readFrom(of: object, key: string | number, walk: Walk): unknown {
  try {
    return Reflect.get(of, key)
  } catch (thrown) {
    throw refusal(walk, `a property that cannot be read (${describeThrown(thrown)})`, PLAIN)
  }
}

function count({ length }: string, walk: Walk): void {
  walk.characters += length
  if (walk.characters > MOST_CHARACTERS) throw refusal(walk, `more than ${MOST_CHARACTERS} characters`, 'less')
}

const PLAIN = 'null, true, false, a finite number, a text, or a list or plain object of these'

function refusal({ what, code, path }: Walk, got: string, expected: string): TirelessError {
  return new TirelessError(code, {
    what: `${what} is not plain data`,
    where: path.length === 0 ? undefined : `at ${pathText(path)}`,
    got,
    expected,
  })
}

function pathText(path: readonly (string | number)[]): string {
  const whole = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
  return whole.length > 200 ? `${whole.slice(0, 200)}…` : whole
}

/** Whether it is an object as a literal makes it, of whichever realm. */
function isRecord(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
}

const MOST_TOLD = 200

/** Contract: what a value is, in a few words for an error message; never throws, whatever it is. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value.length > MOST_TOLD ? `a text of ${value.length} characters` : `the text ${JSON.stringify(value)}`
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
    if (!Array.isArray(value) && !isRecord(value)) return `an instance of ${value.constructor.name || 'a class'}`
    const text = JSON.stringify(value)
    return text.length > MOST_TOLD ? `${text.slice(0, MOST_TOLD)}…` : text
  } catch {
    return 'an object that cannot be written as JSON'
  }
}

const describeThrown = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : describeValue(thrown))

/** Contract: a promise in it that nobody will wait for cannot end the process when it is rejected. */
export function ignoreRejections(value: unknown, depth = 4): void {
  if (typeof value !== 'object' || value === null) return
  try {
    if (value instanceof Promise) value.catch(() => {})
    else if (depth > 0)
      for (const key of Object.keys(value).slice(0, 100)) ignoreRejections(Reflect.get(value, key), depth - 1)
  } catch {}
}
