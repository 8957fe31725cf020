/** Named registries that plugins add to during set-up. */

import { TirelessError } from '../domain/error.ts'
import { describeValue } from '../domain/json.ts'
import type { Registry } from './services.ts'

interface Rules<T> {
  readonly names?: RegExp
  /** The functions that every item must have. */
  readonly methods?: readonly (keyof T & string)[]
  /** Contract: throws if the item is invalid. */
  check?(item: T): void
}

export function createRegistry<T extends { readonly name: string }>(
  kind: string,
  first: readonly T[],
  rules: Rules<T> = {},
): Registry<T> {
  const all = new Map<string, T>()
  const replaceable = new Set<string>()
  const put = (item: T): void => {
    // The item is replaced in place: the order of tools is their order in every prompt.
    if (replaceable.has(item?.name)) {
      checkEntry(kind, item, rules)
      all.set(item.name, item)
    } else add(item)
    replaceable.add(item.name)
  }
  const add = (...items: readonly T[]): void => {
    for (const item of items) {
      checkEntry(kind, item, rules)
      if (all.has(item.name))
        throw new TirelessError('plugin_invalid', {
          what: `duplicate name in ${kind}`,
          got: item.name,
          fix: 'rename one of them',
        })
      all.set(item.name, item)
    }
  }
  add(...first)
  return { all, add, put }
}

function checkEntry<T extends { readonly name: string }>(
  kind: string,
  item: T,
  { names = /./, methods = [], check }: Rules<T>,
): void {
  const name: unknown = item?.name
  if (typeof name !== 'string')
    throw invalidEntry(`invalid entry in ${kind}`, { got: describeValue(item), expected: 'an object with a name' })
  if (!names.test(name))
    throw invalidEntry(`invalid name in ${kind}`, { got: JSON.stringify(name), expected: String(names) })
  for (const where of methods)
    if (typeof item[where] !== 'function')
      throw invalidEntry(`invalid entry ${name} in ${kind}`, {
        where,
        got: describeValue(item[where]),
        expected: 'a function',
      })
  check?.(item)
}

const invalidEntry = (
  what: string,
  details: { readonly where?: string; readonly got: string; readonly expected: string },
): TirelessError => new TirelessError('plugin_invalid', { what, ...details })
