/** Invalid return values for ports: common ones, random ones, and valid values with one part broken. */

import fc from 'fast-check'

/** Makes a new value per use: a rejected promise counts as handled after its first use. */
type Make = () => unknown

const circular = (): unknown => {
  const self: Record<string, unknown> = { kind: 'final', status: 'ok' }
  self.self = self
  return self
}
const throwingGetter = (): unknown =>
  Object.defineProperty({}, 'kind', {
    enumerable: true,
    get: () => {
      throw new Error('this getter throws')
    },
  })
class CustomClass {
  kind = 'continue'
}

/** Always tried, besides the random values. */
export const COMMON_GARBAGE: Readonly<Record<string, Make>> = {
  'a number': () => 42,
  undefined: () => undefined,
  null: () => null,
  'a text': () => 'garbage',
  NaN: () => Number.NaN,
  infinity: () => Number.NEGATIVE_INFINITY,
  'a fraction': () => -1.5,
  true: () => true,
  'a BigInt': () => 10n,
  'a symbol': () => Symbol('garbage'),
  'a function': () => () => 42,
  'a list': () => [1, undefined, 'x'],
  'an object': () => ({}),
  'a Map': () => new Map([['kind', 'continue']]),
  'a Date': () => new Date(0),
  'an instance': () => new CustomClass(),
  'a promise of nothing': () => Promise.resolve(undefined),
  'a promise that rejects': () => Promise.reject(new Error('broken later')),
  'a rejecting promise inside': () => ({
    kind: 'final',
    answer: Promise.reject(new Error('broken inside')),
    status: 'ok',
  }),
  'a circular object': circular,
  'a getter that throws': throwingGetter,
  'a proxy that throws': () =>
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('no')
        },
        ownKeys: () => {
          throw new Error('no')
        },
      },
    ),
}

const commonGarbage: fc.Arbitrary<Make> = fc.constantFrom(...Object.values(COMMON_GARBAGE))
const randomValue: fc.Arbitrary<Make> = fc
  .anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withNullPrototype: true, maxDepth: 2 })
  .map((value) => () => value)

/** The valid value with one part, at any depth, replaced or removed. */
export function nearMiss(valid: unknown): fc.Arbitrary<Make> {
  const paths = pathsIn(valid)
  if (paths.length === 0) return fc.oneof(commonGarbage, randomValue)
  return fc.tuple(fc.constantFrom(...paths), fc.oneof(commonGarbage, randomValue, fc.constant(REMOVED))).map(
    ([path, make]): Make =>
      () =>
        replaceAt(valid, path, make),
  )
}

export const garbageLike = (valid: unknown): fc.Arbitrary<Make> => fc.oneof(nearMiss(valid), commonGarbage, randomValue)

const REMOVED: Make = () => undefined

type Path = readonly string[]

function pathsIn(value: unknown, above: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [[...above, key], ...pathsIn(inner, [...above, key])])
}

function replaceAt(value: unknown, [key, ...rest]: Path, make: Make): unknown {
  if (key === undefined) return make()
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>
  if (rest.length === 0 && make === REMOVED) delete copy[key]
  else copy[key] = replaceAt(copy[key], rest, make)
  return copy
}
