/** What `tireless.config.ts` of a home may add, and the plugin that adds it. */

import type { AppOptions } from '../app.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import type { Embedder } from '../ports/embedder.ts'
import { definePlugin, type Plugin, type PluginHost, type ServiceName } from '../ports/plugin.ts'
import type { Source } from '../ports/source.ts'
import type { RunParts } from './run-parts.ts'

export interface OwnerConfig extends RunParts, Pick<AppOptions, 'plugins' | 'channels'> {
  readonly sources?: readonly Source[]
  readonly embedders?: readonly Embedder[]
}

/** Returns its argument, with types: for `tireless.config.ts` in the home. */
export function defineConfig(config: OwnerConfig): OwnerConfig {
  return config
}

/** The registry of each list. */
const REGISTRIES: Readonly<Record<Exclude<keyof OwnerConfig, 'plugins'>, ServiceName>> = {
  ...{ tools: 'tools', behaviours: 'behaviours', critics: 'critics', gates: 'gates', hooks: 'hooks' },
  ...{ parsers: 'parsers', memories: 'memories', channels: 'channels', sources: 'sources', embedders: 'embedders' },
  ...{ envs: 'envKinds', modelProviders: 'modelProviders', recoveryRules: 'recoveryRules', stopRules: 'stopRules' },
}

export const OWNER_KEYS: readonly string[] = ['plugins', ...Object.keys(REGISTRIES)]

/** Contract: the plugins of the module, and one that adds its lists. `file`: named in errors. */
export function ownerPlugins(file: string, { plugins = [], ...lists }: OwnerConfig): readonly Plugin[] {
  const added = Object.entries(REGISTRIES).flatMap(([key, registry]) => {
    const items = lists[key as keyof typeof lists] ?? []
    return items.length === 0 ? [] : [{ key, registry, items }]
  })
  const own = definePlugin({
    name: 'tireless.config',
    needs: added.map(({ registry }) => registry),
    setup(host) {
      for (const { key, registry, items } of added) addTo(host, registry, items, `${file}: ${key}`)
    },
  })
  return [own, ...plugins]
}

function addTo(host: PluginHost, registry: ServiceName, items: readonly unknown[], where: string): void {
  const { add, push } = host.get(registry) as Partial<Record<'add' | 'push', (...items: readonly unknown[]) => void>>
  try {
    if (add) add(...items)
    else push?.apply(host.get(registry), [...items])
  } catch (thrown) {
    const { code, parts } = asTirelessError(thrown, 'plugin_failed')
    throw new TirelessError(code, { ...parts, where: parts.where ? `${where}: ${parts.where}` : where })
  }
}
