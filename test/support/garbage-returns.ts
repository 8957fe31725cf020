/** Garbage for the ports: values that no plugin should return, and near misses of those that it should. */

import fc from 'fast-check'

/** Each time anew: a promise that was refused once counts as handled. */
type Make = () => unknown

const circle = (): unknown => {
  const self: Record<string, unknown> = { kind: 'final', status: 'ok' }
  self.self = self
  return self
}
const trap = (): unknown =>
  Object.defineProperty({}, 'kind', {
    enumerable: true,
    get: () => {
      throw new Error('do not look')
    },
  })
class Own {
  kind = 'continue'
}

/** What is always tried, whatever chance brings. */
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
  'an instance': () => new Own(),
  'a promise of nothing': () => Promise.resolve(undefined),
  'a promise that is broken': () => Promise.reject(new Error('broken later')),
  'a promise inside': () => ({ kind: 'final', answer: Promise.reject(new Error('broken inside')), status: 'ok' }),
  'an object in a circle': circle,
  'a getter that throws': trap,
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

const classic: fc.Arbitrary<Make> = fc.constantFrom(...Object.values(COMMON_GARBAGE))
const anything: fc.Arbitrary<Make> = fc
  .anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withNullPrototype: true, maxDepth: 2 })
  .map((value) => () => value)

/** The valid value with one thing in it, at any depth, put out of place, or taken away. */
export function nearMiss(valid: unknown): fc.Arbitrary<Make> {
  const paths = pathsIn(valid)
  if (paths.length === 0) return fc.oneof(classic, anything)
  return fc.tuple(fc.constantFrom(...paths), fc.oneof(classic, anything, fc.constant(GONE))).map(
    ([path, make]): Make =>
      () =>
        replaced(valid, path, make),
  )
}

export const garbageLike = (valid: unknown): fc.Arbitrary<Make> => fc.oneof(nearMiss(valid), classic, anything)

const GONE: Make = () => undefined

type Path = readonly string[]

function pathsIn(value: unknown, above: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [[...above, key], ...pathsIn(inner, [...above, key])])
}

function replaced(value: unknown, [key, ...rest]: Path, make: Make): unknown {
  if (key === undefined) return make()
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>
  if (rest.length === 0 && make === GONE) delete copy[key]
  else copy[key] = replaced(copy[key], rest, make)
  return copy
}
