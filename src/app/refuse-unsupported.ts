/** Refuses configuration keys that are not implemented yet: ignoring them would not do what the owner asked for. */

import type { LoadedConfig } from '../config.ts'
import { TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'

/** What to do instead, by the first part of the key. */
const ALTERNATIVES: Readonly<Record<string, string>> = {
  channels: 'remove the key; use `lark`, `webhook`, or `console` and `desktop`, which need no entry',
}

/**
 * Contract: throws `config_invalid` with every unsupported key, its file and line. No value is quoted, because it may
 * be a secret.
 */
export function refuseUnbuilt({ unused, config, sources }: LoadedConfig): void {
  const problems = unused
    .filter((key) => !isEmpty(valueAt(config as Json, key)))
    .map((key) => {
      const leaf = Object.keys(sources).find(
        (path) => path === key || (path.startsWith(key) && /[.[]/.test(path[key.length] ?? '')),
      )
      const where = leaf === undefined ? '' : `${sources[leaf]}: `
      const [top = ''] = key.split(/[.[]/, 1)
      return `${where}${key} is not supported yet; do this: ${ALTERNATIVES[top] ?? 'remove the key'}`
    })
  if (problems.length > 0) throw new TirelessError('config_invalid', problems.join('\n  '))
}

/**
 * The value of a key such as `a.b[0]`. The key is split at dots and brackets, because no part of an unsupported key
 * contains them.
 */
function valueAt(data: Json | undefined, key: string): Json | undefined {
  return key
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .reduce<Json | undefined>((value, step) => (value as Readonly<Record<string, Json>> | undefined)?.[step], data)
}

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
