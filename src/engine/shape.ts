/**
 * Shapes: fast checks of plain data. A step checks about a dozen return values of plugins, and a schema library would
 * be too slow for that.
 * Must not know: where the data comes from, and what follows from a mismatch.
 * Invariants: the result contains only the fields that its shape names.
 */

import type { Json } from '../domain/json.ts'

/** Checks plain data. Contract: returns the named fields of a matching value, else a ShapeMismatch; never throws. */
export type Shape<T> = (value: Json | undefined) => T | ShapeMismatch

/** Why a value does not match a shape, and the path to the mismatch inside the value. */
export class ShapeMismatch {
  readonly message: string
  readonly path: (string | number)[] = []
  constructor(message: string) {
    this.message = message
  }
  within(key: string | number): this {
    this.path.unshift(key)
    return this
  }
}

const unexpected = (expected: string, value: Json | undefined): ShapeMismatch =>
  new ShapeMismatch(`Invalid input: expected ${expected}, received ${typeName(value)}`)

function typeName(value: Json | undefined): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

export const textShape: Shape<string> = (value) => (typeof value === 'string' ? value : unexpected('string', value))
export const booleanShape: Shape<boolean> = (value) =>
  typeof value === 'boolean' ? value : unexpected('boolean', value)

/** Any value except undefined. The caller has checked that it is plain data. */
export const anyShape: Shape<Json> = (value) => (value === undefined ? unexpected('nonoptional', value) : value)

interface NumberRange {
  readonly from?: number
  readonly above?: number
  readonly upto?: number
  readonly whole?: boolean
}

export function numberShape({ from, above, upto, whole = false }: NumberRange = {}): Shape<number> {
  const least = from ?? (whole ? Number.MIN_SAFE_INTEGER : Number.NEGATIVE_INFINITY)
  const most = upto ?? (whole ? Number.MAX_SAFE_INTEGER : Number.POSITIVE_INFINITY)
  return (value) => {
    if (typeof value !== 'number') return unexpected('number', value)
    if (whole && !Number.isInteger(value)) return unexpected('int', value)
    if (value < least) return new ShapeMismatch(`Too small: expected number to be >=${least}`)
    if (above !== undefined && value <= above) return new ShapeMismatch(`Too small: expected number to be >${above}`)
    return value <= most ? value : new ShapeMismatch(`Too big: expected number to be <=${most}`)
  }
}

export function matchingShape<T extends string>(pattern: RegExp): Shape<T> {
  return (value) => {
    if (typeof value !== 'string') return unexpected('string', value)
    return pattern.test(value) ? (value as T) : new ShapeMismatch(`Invalid string: must match pattern ${pattern}`)
  }
}

export function oneOfShape<const T extends string | boolean>(words: readonly T[]): Shape<T> {
  const listed = words.map((word) => JSON.stringify(word)).join('|')
  const message = words.length > 1 ? `Invalid option: expected one of ${listed}` : `Invalid input: expected ${listed}`
  return (value) => (words.includes(value as T) ? (value as T) : new ShapeMismatch(message))
}

export const optionalShape =
  <T>(shape: Shape<T>): Shape<T | undefined> =>
  (value) =>
    value === undefined ? undefined : shape(value)

export function listShape<T>(shape: Shape<T>): Shape<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value)) return unexpected('array', value)
    const list: readonly Json[] = value
    const checked: T[] = []
    for (let i = 0; i < list.length; i++) {
      const item = shape(list[i])
      if (item instanceof ShapeMismatch) return item.within(i)
      checked.push(item)
    }
    return checked
  }
}

type Fields = { readonly [key: string]: Json }

export const isJsonObject = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object with any keys; every value must match `shape`. */
export function recordShape<T extends Json>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return (value) => {
    if (!isJsonObject(value)) return unexpected('record', value)
    for (const key of Object.keys(value)) {
      const item = shape(value[key])
      if (item instanceof ShapeMismatch) return item.within(key)
    }
    return value as Readonly<Record<string, T>>
  }
}

type Shapes<T> = { readonly [K in keyof T]: Shape<T[K]> }

/** An object with the fields of `needed`; the fields of `optional` may be missing. */
export function objectShape<T, O = unknown>(needed: Shapes<T>, optional?: Shapes<O>): Shape<T & Partial<O>> {
  const fields = [...fieldList(needed, false), ...(optional ? fieldList(optional, true) : [])]
  return (value) => {
    if (!isJsonObject(value)) return unexpected('object', value)
    const checked: Record<string, Json> = {}
    for (let i = 0; i < fields.length; i++) {
      const { key, shape, isOptional } = fields[i] as FieldShape
      const input = value[key]
      if (isOptional && input === undefined) continue
      const item = shape(input)
      if (item instanceof ShapeMismatch) return item.within(key)
      checked[key] = item
    }
    return checked as T & Partial<O>
  }
}

interface FieldShape {
  readonly key: string
  readonly shape: Shape<Json>
  readonly isOptional: boolean
}

const fieldList = <T>(shapes: Shapes<T>, isOptional: boolean): readonly FieldShape[] =>
  Object.entries(shapes as Record<string, Shape<Json>>).map(([key, shape]) => ({ key, shape, isOptional }))

type Shaped<S> = S extends Shape<infer T> ? T : never

/** One of several shapes, chosen by the value of the field `tag`. Each shape must contain that field. */
export function taggedShape<S extends Readonly<Record<string, Shape<unknown>>>>(
  tag: string,
  shapes: S,
): Shape<Shaped<S[keyof S]>> {
  const byTag = new Map(Object.entries(shapes) as [string, Shape<Shaped<S[keyof S]>>][])
  const tags = [...byTag.keys()].map((one) => `'${one}'`).join(' | ')
  return (value) => {
    if (!isJsonObject(value)) return unexpected('object', value)
    const word = value[tag]
    // String() would throw for an object whose toString fails.
    const shape = typeof word === 'object' ? undefined : byTag.get(String(word))
    return shape ? shape(value) : new ShapeMismatch(`Invalid discriminator value. Expected ${tags}`).within(tag)
  }
}
