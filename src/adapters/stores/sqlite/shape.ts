/** Composable checks of stored values. They run on every read, so they must be fast. */

import { isCount, isInstant } from '../../../domain/limits.ts'

/** Contract: undefined if the value is valid; otherwise the place and the reason. */
export type Shape = (value: unknown) => string | undefined

const MAX_QUOTE = 60

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE)}…` : text
}

const describeMismatch = (value: unknown, expected: string): string =>
  value === undefined ? `missing; expected ${expected}` : `got ${describeValue(value)}; expected ${expected}`

export function that(expected: string, fits: (value: unknown) => boolean): Shape {
  return (value) => (fits(value) ? undefined : describeMismatch(value, expected))
}

/** The most common one, so without the second call of `that`. */
export const text: Shape = (value) => (typeof value === 'string' ? undefined : describeMismatch(value, 'text'))
export const number = that('a number', Number.isFinite)
export const whole = that('a whole number', Number.isSafeInteger)
export const count = that('a whole number, 0 or more', isCount)
export const instant = that('epoch milliseconds in the years 1970 to 9999', isInstant)
/** The range of Date. */
export const time = that('epoch milliseconds', (value) => Number.isInteger(value) && Math.abs(Number(value)) <= 8.64e15)
export const truth = that('true or false', (value) => typeof value === 'boolean')
/** A boolean column. */
export const flag = that('0 or 1', (value) => value === 0 || value === 1)
export const anything: Shape = () => undefined

export const oneOf = (allowed: readonly unknown[]): Shape =>
  that(`one of ${allowed.join(', ')}`, (value) => allowed.includes(value))

export const orNull =
  (shape: Shape): Shape =>
  (value) =>
    value === null ? undefined : shape(value)

/** An optional key. */
export const orAbsent =
  (shape: Shape): Shape =>
  (value) =>
    value === undefined ? undefined : shape(value)

export const listOf =
  (shape: Shape): Shape =>
  (value) => {
    if (!Array.isArray(value)) return describeMismatch(value, 'a list')
    for (let i = 0; i < value.length; i += 1) {
      const why = shape(value[i])
      if (why !== undefined) return prefixPlace(String(i), why)
    }
    return undefined
  }

/** Checks the named keys only, because later versions may add others. */
export function fields(shapes: Readonly<Record<string, Shape>>): Shape {
  const [keys, checks] = [Object.keys(shapes), Object.values(shapes)]
  return (value) => {
    if (!isObject(value)) return describeMismatch(value, 'an object')
    // By index: this is the innermost loop of every write and read, and iterators cost more than the checks.
    for (let i = 0; i < keys.length; i += 1) {
      const key = keys[i] as string
      const why = checks[i]?.(value[key])
      if (why !== undefined) return prefixPlace(key, why)
    }
    return undefined
  }
}

export const valuesOf =
  (shape: Shape): Shape =>
  (value) => {
    if (!isObject(value)) return describeMismatch(value, 'an object')
    for (const [key, inner] of Object.entries(value)) {
      const why = shape(inner)
      if (why !== undefined) return prefixPlace(key, why)
    }
    return undefined
  }

/** An object of a closed union, discriminated by one key. */
export function union(key: string, shapes: Readonly<Record<string, Shape>>): Shape {
  const byTag = new Map(Object.entries(shapes))
  const tag = oneOf([...byTag.keys()])
  return (value) => {
    if (!isObject(value)) return describeMismatch(value, 'an object')
    const shape = byTag.get(String(value[key]))
    if (shape) return shape(value)
    const why = tag(value[key])
    return why && prefixPlace(key, why)
  }
}

/** A column with JSON text. */
export const json =
  (shape: Shape): Shape =>
  (value) => {
    let parsed: unknown
    try {
      parsed = JSON.parse(String(value))
    } catch {
      return `damaged JSON: ${describeValue(value)}`
    }
    return shape(parsed)
  }

/** Prefixes the place inside a value: `result.agents.0.status: got …`. */
const prefixPlace = (key: string, why: string): string => (/^[\w.-]+: /.test(why) ? `${key}.${why}` : `${key}: ${why}`)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
