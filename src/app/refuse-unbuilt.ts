/** Keys of a configuration that nothing uses yet: with one of them, the program would do something else than its owner asked for. */

import type { LoadedConfig } from '../config.ts'
import { TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'

/** What to do instead, by the beginning of the key. */
const INSTEAD: Readonly<Record<string, string>> = {
  store: 'write `store: sqlite`, or take the key out',
  residents: 'take the key out; agents under `kernel.agents` work by schedule',
  sources: 'take the key out; an agent can watch folders and repositories (`watch`)',
  plugins: 'take the key out; plugins are passed to `createApp` of the library',
  channels: 'take the key out; `webhook` is there, and `console` and `desktop` need no entry',
}

/** Contract: throws one `config_invalid` that names every such key, with its file and line. Values stay untold: they may be secrets. */
export function refuseUnbuilt({ unused, config, sources }: LoadedConfig): void {
  const problems = unused
    .filter((key) => !isEmpty(valueAt(config as Json, key)))
    .map((key) => {
      const leaf = Object.keys(sources).find(
        (one) => one === key || (one.startsWith(key) && /[.[]/.test(one[key.length] ?? '')),
      )
      const where = leaf === undefined ? '' : `${sources[leaf]}: `
      const [top = ''] = key.split(/[.[]/, 1)
      return `${where}${key} is set, and nothing uses it yet; do this: ${INSTEAD[top] ?? 'take the key out'}`
    })
  if (problems.length > 0) throw new TirelessError('config_invalid', problems.join('\n  '))
}

/** Keys that nothing uses are the names of the schema's upper levels: none has a dot or a bracket in it. */
function valueAt(data: Json | undefined, key: string): Json | undefined {
  return key
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .reduce<Json | undefined>((value, step) => (value as Readonly<Record<string, Json>> | undefined)?.[step], data)
}

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
