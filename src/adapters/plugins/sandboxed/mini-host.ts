/** The host of a sandboxed plugin: registries of the kinds that can be called from outside, clock, ids and log. */

import { TirelessError } from '../../../domain/error.ts'
import { describeValue } from '../../../domain/json.ts'
import { SANDBOXED_KINDS } from '../../../domain/plugin-manifest.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Ids } from '../../../ports/ids.ts'
import type { Plugin, PluginHost } from '../../../ports/plugin.ts'
import { OFFERED_NAME } from './protocol.ts'

type Kind = (typeof SANDBOXED_KINDS)[number]

export interface MiniHost {
  items(kind: Kind): ReadonlyMap<string, unknown>
  start(): Promise<void>
  stop(): Promise<void>
}

interface HostServices {
  readonly clock: Clock
  readonly ids: Ids
  log(text: string): void
}

export function createMiniHost(plugin: Plugin, { clock, ids, log }: HostServices): MiniHost {
  const registries = new Map(SANDBOXED_KINDS.map((kind) => [kind, createRegistry(kind)]))
  const services = new Map<string, unknown>([
    ...registries,
    ['clock', clock],
    ['ids', ids],
    ['log', { write: (level: string, event: string) => log(`${level}: ${event}`) }],
  ])
  const host: PluginHost = {
    get(name) {
      if (services.has(name)) return services.get(name) as never
      throw new TirelessError('plugin_invalid', {
        ...{ what: 'a sandboxed plugin cannot use this service', got: name },
        ...{ expected: `one of ${[...services.keys()].join(', ')}`, fix: 'load the plugin with `trust: trusted`' },
      })
    },
    provide(name) {
      throw new TirelessError('plugin_invalid', {
        ...{ what: 'a sandboxed plugin cannot provide services', got: name },
        fix: 'load the plugin with `trust: trusted`',
      })
    },
  }
  return {
    items: (kind) => registries.get(kind)?.all ?? new Map(),
    async start() {
      await plugin.setup?.(host)
      await plugin.start?.(host)
    },
    stop: async () => plugin.stop?.(),
  }
}

function createRegistry(kind: string) {
  const all = new Map<string, unknown>()
  const add = (...items: readonly { readonly name?: unknown }[]): void => {
    for (const item of items) {
      if (typeof item?.name !== 'string' || !OFFERED_NAME.test(item.name))
        throw new TirelessError('plugin_invalid', {
          ...{ what: `invalid entry in ${kind}`, got: describeValue(item?.name) },
          expected: 'an object with a name of at most 64 letters, digits, dots, dashes and underscores',
        })
      if (all.has(item.name))
        throw new TirelessError('plugin_invalid', { what: `duplicate name in ${kind}`, got: item.name })
      all.set(item.name, item)
    }
  }
  return { all, add, put: add }
}
