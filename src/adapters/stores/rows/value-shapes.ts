/** Composable checks of stored values. They run on every read, so they must be fast. */

import { isCount, isInstant } from '../../../domain/limits.ts'
import { truncateText } from '../../../domain/truncate.ts'

/** Why a value is invalid, and where inside the value: `['agents', '0', 'status']`; empty for the value itself. */
interface StoredMismatch {
  readonly place: readonly string[]
  readonly why: string
}

/** Contract: undefined if the value is valid. */
export type StoredShape = (value: unknown) => StoredMismatch | undefined

/** Contract: why the value is invalid, for messages (`result.agents.0.status: got …`); undefined if it is valid. */
export function describeInvalid(shape: StoredShape, value: unknown): string | undefined {
  const found = shape(value)
  if (found === undefined || found.place.length === 0) return found?.why
  return `${found.place.join('.')}: ${found.why}`
}

const MAX_QUOTE = 60

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return truncateText(text, MAX_QUOTE)
}

const mismatch = (value: unknown, expected: string): StoredMismatch => ({
  place: [],
  why: value === undefined ? `missing; expected ${expected}` : `got ${describeValue(value)}; expected ${expected}`,
})

export function storedShape(expected: string, fits: (value: unknown) => boolean): StoredShape {
  return (value) => (fits(value) ? undefined : mismatch(value, expected))
}

export const storedText = storedShape('text', (value) => typeof value === 'string')
export const storedNumber = storedShape('a number', Number.isFinite)
export const storedInteger = storedShape('a whole number', Number.isSafeInteger)
export const storedCount = storedShape('a whole number, 0 or more', isCount)
export const storedInstant = storedShape('epoch milliseconds in the years 1970 to 9999', isInstant)
/** Any time that a Date can hold. */
export const storedTime = storedShape(
  'epoch milliseconds',
  (value) => Number.isInteger(value) && Math.abs(Number(value)) <= 8.64e15,
)
export const storedBoolean = storedShape('true or false', (value) => typeof value === 'boolean')
/** A boolean column. */
export const storedFlag = storedShape('0 or 1', (value) => value === 0 || value === 1)
export const storedAny: StoredShape = () => undefined

export const oneOf = (allowed: readonly unknown[]): StoredShape =>
  storedShape(`one of ${allowed.join(', ')}`, (value) => allowed.includes(value))

export const orNull =
  (shape: StoredShape): StoredShape =>
  (value) =>
    value === null ? undefined : shape(value)

/** Accepts a missing key. */
export const orAbsent =
  (shape: StoredShape): StoredShape =>
  (value) =>
    value === undefined ? undefined : shape(value)

export const listOf =
  (shape: StoredShape): StoredShape =>
  (value) => {
    if (!Array.isArray(value)) return mismatch(value, 'a list')
    for (let i = 0; i < value.length; i += 1) {
      const found = shape(value[i])
      if (found) return mismatchAt(String(i), found)
    }
    return undefined
  }

/** Checks the named keys only, because later versions may add others. */
export function storedObject(shapes: Readonly<Record<string, StoredShape>>): StoredShape {
  const [keys, checks] = [Object.keys(shapes), Object.values(shapes)]
  return (value) => {
    if (!isObject(value)) return mismatch(value, 'an object')
    for (let i = 0; i < keys.length; i += 1) {
      const key = keys[i] as string
      const found = checks[i]?.(value[key])
      if (found) return mismatchAt(key, found)
    }
    return undefined
  }
}

export const storedRecordOf =
  (shape: StoredShape): StoredShape =>
  (value) => {
    if (!isObject(value)) return mismatch(value, 'an object')
    for (const [key, inner] of Object.entries(value)) {
      const found = shape(inner)
      if (found) return mismatchAt(key, found)
    }
    return undefined
  }

/** An object of a closed union, discriminated by one key. */
export function storedUnion(key: string, shapes: Readonly<Record<string, StoredShape>>): StoredShape {
  const byTag = new Map(Object.entries(shapes))
  const tag = oneOf([...byTag.keys()])
  return (value) => {
    if (!isObject(value)) return mismatch(value, 'an object')
    const shape = byTag.get(String(value[key]))
    if (shape) return shape(value)
    const found = tag(value[key])
    return found && mismatchAt(key, found)
  }
}

/** A column with JSON text. */
export const storedJson =
  (shape: StoredShape): StoredShape =>
  (value) => {
    let parsed: unknown
    try {
      parsed = JSON.parse(String(value))
    } catch {
      return { place: [], why: `damaged JSON: ${describeValue(value)}` }
    }
    return shape(parsed)
  }

/** The mismatch of a part, as a mismatch of the value that has the part under this key. */
const mismatchAt = (key: string, { place, why }: StoredMismatch): StoredMismatch => ({ place: [key, ...place], why })

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
