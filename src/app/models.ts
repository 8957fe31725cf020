/** The plugin that knows the models: those of the configuration as it is now. */

import { configuredModels } from '../adapters/models/configured.ts'
import { apiKeyOf, environment, type LoadedConfig, mindsMoney } from '../config.ts'
import type { Clock } from '../ports/clock.ts'
import { type Model, type Models, onlyModel } from '../ports/model.ts'
import { definePlugin, type Plugin, type PluginHost } from '../ports/plugin.ts'

/** `model`: used instead of what the configuration names. */
export function models(model: Model | undefined): Plugin {
  return definePlugin({
    name: 'models',
    needs: ['clock', 'config', 'log'],
    provides: ['models'],
    setup(host) {
      host.provide('models', model ? onlyModel(model) : liveModels(host))
    },
  })
}

/** Made anew when the configuration is another. */
function liveModels(host: PluginHost): Models {
  const [config, clock, { hide }] = [host.get('config'), host.get('clock'), host.get('log')]
  let [made, of]: [Models | undefined, LoadedConfig | undefined] = [undefined, undefined]
  const current = (): Models => {
    if (!made || of !== config.loaded) [made, of] = [modelsIn(config.loaded, clock, hide), config.loaded]
    return made
  }
  return {
    get defaultId() {
      return current().defaultId
    },
    choice: () => current().choice(),
    get: (id) => current().get(id),
    chain: (wanted) => current().chain(wanted),
    list: () => current().list(),
  }
}

/** `hide`: told of each key that comes up. */
export function modelsIn(loaded: LoadedConfig, clock: Clock, hide: (key: string) => void): Models {
  const { kernel, models: given } = loaded.config
  return configuredModels({
    ...given,
    agents: Object.fromEntries(
      kernel.agents.flatMap(({ agent_id, model: own }) => (own === null ? [] : [[agent_id, own]])),
    ),
    freeAtHome: !mindsMoney(loaded),
    clock,
    env: environment(),
    fetch: globalThis.fetch,
    apiKeyOf(provider) {
      const key = apiKeyOf(provider)
      // One that came up only now.
      if (key !== undefined) hide(key)
      return key
    },
  })
}
