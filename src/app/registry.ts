/** Registries: what plugins may add to, by name, until everything is set up. */

import { TirelessError } from '../domain/error.ts'
import type { Registry } from './services.ts'

interface Rules<T> {
  readonly names?: RegExp
  /** Contract: throws what is wrong with one. */
  check?(item: T): void
}

export function registry<T extends { readonly name: string }>(
  kind: string,
  first: readonly T[],
  { names = /./, check = () => {} }: Rules<T> = {},
): Registry<T> {
  const all = new Map<string, T>()
  const replaceable = new Set<string>()
  const put = (item: T): void => {
    // In its place: the order of tools is the order in every prompt.
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
          what: `${kind} cannot have such a name`,
          got: JSON.stringify(item.name),
          expected: String(names),
        })
      if (all.has(item.name))
        throw new TirelessError('plugin_invalid', {
          what: `two ${kind} have one name`,
          got: item.name,
          fix: 'rename one',
        })
      check(item)
      all.set(item.name, item)
    }
  }
  add(...first)
  return { all, add, put }
}
