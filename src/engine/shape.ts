/**
 * Shapes of plain data, checked by plain code: a step checks what plugins return a dozen times, and a schema costs more than all of that.
 * Must not know: whose data it is, and what follows where it does not fit.
 * Invariants: of what fits, only the fields that its shape names are handed on.
 */

import type { Json } from '../domain/json.ts'

/** Contract: what it names of the value, where that fits; never throws. For plain data alone: nothing else is looked into. */
export type Shape<T> = (value: Json | undefined) => T | Misfit

/** Why a value does not fit, and where in it. */
export class Misfit {
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

const unexpected = (expected: string, value: Json | undefined): Misfit =>
  new Misfit(`Invalid input: expected ${expected}, received ${typeName(value)}`)

function typeName(value: Json | undefined): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

export const textShape: Shape<string> = (value) => (typeof value === 'string' ? value : unexpected('string', value))
export const flagShape: Shape<boolean> = (value) => (typeof value === 'boolean' ? value : unexpected('boolean', value))

/** Anything but nothing: that it is plain data has been checked. */
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
    if (value < least) return new Misfit(`Too small: expected number to be >=${least}`)
    if (above !== undefined && value <= above) return new Misfit(`Too small: expected number to be >${above}`)
    return value <= most ? value : new Misfit(`Too big: expected number to be <=${most}`)
  }
}

export function matchingShape<T extends string>(pattern: RegExp): Shape<T> {
  return (value) => {
    if (typeof value !== 'string') return unexpected('string', value)
    return pattern.test(value) ? (value as T) : new Misfit(`Invalid string: must match pattern ${pattern}`)
  }
}

export function oneOfShape<const T extends string | boolean>(words: readonly T[]): Shape<T> {
  const listed = words.map((word) => JSON.stringify(word)).join('|')
  const message = words.length > 1 ? `Invalid option: expected one of ${listed}` : `Invalid input: expected ${listed}`
  return (value) => (words.includes(value as T) ? (value as T) : new Misfit(message))
}

export const optionalShape =
  <T>(shape: Shape<T>): Shape<T | undefined> =>
  (value) =>
    value === undefined ? undefined : shape(value)

export function listShape<T>(shape: Shape<T>): Shape<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value)) return unexpected('array', value)
    const list: readonly Json[] = value
    const fitting: T[] = []
    for (let i = 0; i < list.length; i++) {
      const item = shape(list[i])
      if (item instanceof Misfit) return item.within(i)
      fitting.push(item)
    }
    return fitting
  }
}

type Fields = { readonly [key: string]: Json }

export const isFields = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Under whichever keys. */
export function recordShape<T extends Json>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return (value) => {
    if (!isFields(value)) return unexpected('record', value)
    for (const key of Object.keys(value)) {
      const item = shape(value[key])
      if (item instanceof Misfit) return item.within(key)
    }
    return value as Readonly<Record<string, T>>
  }
}

type Shapes<T> = { readonly [K in keyof T]: Shape<T[K]> }

/** `optional`: fields that may be missing. */
export function fieldsShape<T, O = unknown>(needed: Shapes<T>, optional?: Shapes<O>): Shape<T & Partial<O>> {
  const named = [...namedIn(needed, false), ...(optional ? namedIn(optional, true) : [])]
  return (value) => {
    if (!isFields(value)) return unexpected('object', value)
    const fitting: Record<string, Json> = {}
    for (const { key, shape, mayMiss } of named) {
      const given = value[key]
      if (mayMiss && given === undefined) continue
      const taken = shape(given)
      if (taken instanceof Misfit) return taken.within(key)
      fitting[key] = taken
    }
    return fitting as T & Partial<O>
  }
}

interface NamedShape {
  readonly key: string
  readonly shape: Shape<Json>
  readonly mayMiss: boolean
}

const namedIn = <T>(shapes: Shapes<T>, mayMiss: boolean): readonly NamedShape[] =>
  Object.entries(shapes as Record<string, Shape<Json>>).map(([key, shape]) => ({ key, shape, mayMiss }))

type Shaped<S> = S extends Shape<infer T> ? T : never

/** One of several, by the word in its field `tag`; each of them has that field itself. */
export function taggedShape<S extends Readonly<Record<string, Shape<unknown>>>>(
  tag: string,
  shapes: S,
): Shape<Shaped<S[keyof S]>> {
  const byTag = new Map(Object.entries(shapes) as [string, Shape<Shaped<S[keyof S]>>][])
  const tags = [...byTag.keys()].map((one) => `'${one}'`).join(' | ')
  return (value) => {
    if (!isFields(value)) return unexpected('object', value)
    const word = value[tag]
    // An object with a `toString` of its own would throw.
    const shape = typeof word === 'object' ? undefined : byTag.get(String(word))
    return shape ? shape(value) : new Misfit(`Invalid discriminator value. Expected ${tags}`).within(tag)
  }
}
