/** Named registries that plugins add to during set-up. */

import { TirelessError } from '../domain/error.ts'
import type { Registry } from './services.ts'

interface Rules<T> {
  readonly names?: RegExp
  /** Contract: throws if the item is invalid. */
  check?(item: T): void
}

export function createRegistry<T extends { readonly name: string }>(
  kind: string,
  first: readonly T[],
  { names = /./, check = () => {} }: Rules<T> = {},
): Registry<T> {
  const all = new Map<string, T>()
  const replaceable = new Set<string>()
  const put = (item: T): void => {
    // The item is replaced in place: the order of tools is their order in every prompt.
    if (replaceable.has(item.name)) {
      check(item)
      all.set(item.name, item)
    } else add(item)
    replaceable.add(item.name)
  }
  const add = (...items: readonly T[]): void => {
    for (const item of items) {
      if (!names.test(item.name))
        throw new TirelessError('plugin_invalid', {
          what: `invalid name in ${kind}`,
          got: JSON.stringify(item.name),
          expected: String(names),
        })
      if (all.has(item.name))
        throw new TirelessError('plugin_invalid', {
          what: `duplicate name in ${kind}`,
          got: item.name,
          fix: 'rename one of them',
        })
      check(item)
      all.set(item.name, item)
    }
  }
  add(...first)
  return { all, add, put }
}
