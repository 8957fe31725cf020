/** Shapes of stored values: small checks that are put together. Checked on every read, so they must cost next to nothing. */

import { isCount, isInstant } from '../../../domain/limits.ts'

/** Undefined: the value fits. Otherwise where it does not, and why. */
export type Shape = (value: unknown) => string | undefined

const MAX_SHOWN = 60

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

const mismatch = (value: unknown, expected: string): string =>
  value === undefined ? `missing; expected ${expected}` : `got ${shown(value)}; expected ${expected}`

export function that(expected: string, fits: (value: unknown) => boolean): Shape {
  return (value) => (fits(value) ? undefined : mismatch(value, expected))
}

export const text = that('text', (value) => typeof value === 'string')
export const number = that('a number', Number.isFinite)
export const whole = that('a whole number', Number.isSafeInteger)
export const count = that('a whole number, 0 or more', isCount)
export const instant = that('epoch milliseconds in the years 1970 to 9999', isInstant)
/** What a date can be made of at all. */
export const time = that('epoch milliseconds', (value) => Number.isInteger(value) && Math.abs(Number(value)) <= 8.64e15)
export const truth = that('true or false', (value) => typeof value === 'boolean')
/** As a column holds it. */
export const flag = that('0 or 1', (value) => value === 0 || value === 1)
export const anything: Shape = () => undefined

export const oneOf = (words: readonly unknown[]): Shape =>
  that(`one of ${words.join(', ')}`, (value) => words.includes(value))

export const orNull =
  (shape: Shape): Shape =>
  (value) =>
    value === null ? undefined : shape(value)

/** A key that may be left out. */
export const orAbsent =
  (shape: Shape): Shape =>
  (value) =>
    value === undefined ? undefined : shape(value)

export const listOf =
  (shape: Shape): Shape =>
  (value) => {
    if (!Array.isArray(value)) return mismatch(value, 'a list')
    for (let i = 0; i < value.length; i += 1) {
      const why = shape(value[i])
      if (why !== undefined) return at(String(i), why)
    }
    return undefined
  }

/** Keys that are not named are not looked at: later versions add some. */
export function fields(shapes: Readonly<Record<string, Shape>>): Shape {
  const entries = Object.entries(shapes)
  return (value) => {
    if (!isObject(value)) return mismatch(value, 'an object')
    for (const [key, shape] of entries) {
      const why = shape(value[key])
      if (why !== undefined) return at(key, why)
    }
    return undefined
  }
}

export const valuesOf =
  (shape: Shape): Shape =>
  (value) => {
    if (!isObject(value)) return mismatch(value, 'an object')
    for (const [key, inner] of Object.entries(value)) {
      const why = shape(inner)
      if (why !== undefined) return at(key, why)
    }
    return undefined
  }

/** An object of a closed union, told apart by one key. */
export function union(key: string, shapes: Readonly<Record<string, Shape>>): Shape {
  const known = new Map(Object.entries(shapes))
  const tag = oneOf([...known.keys()])
  return (value) => {
    if (!isObject(value)) return mismatch(value, 'an object')
    const shape = known.get(String(value[key]))
    if (shape) return shape(value)
    const why = tag(value[key])
    return why && at(key, why)
  }
}

/** A column of JSON text. */
export const json =
  (shape: Shape): Shape =>
  (value) => {
    let parsed: unknown
    try {
      parsed = JSON.parse(String(value))
    } catch {
      return `damaged JSON: ${shown(value)}`
    }
    return shape(parsed)
  }

/** Of a place inside a value: `result.agents.0.status: got …`. */
const at = (key: string, why: string): string => (/^[\w.-]+: /.test(why) ? `${key}.${why}` : `${key}: ${why}`)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
