/** The models of the configuration in use. */

import { configuredModels } from '../adapters/models/configured.ts'
import { apiKeyOf, environment, type LoadedConfig, mindsMoney } from '../config.ts'
import type { Clock } from '../ports/clock.ts'
import type { Models } from '../ports/model.ts'
import type { PluginHost, Services } from '../ports/plugin.ts'

/** Made anew when the configuration is another, or the secrets that it names. */
export function createModelService(host: PluginHost): Models {
  const [config, clock, secrets] = [host.get('config'), host.get('clock'), host.get('secrets')]
  let [made, of, by]: [Models | undefined, LoadedConfig | undefined, number] = [undefined, undefined, -1]
  const current = (): Models => {
    if (!made || of !== config.loaded || by !== secrets.changes())
      [made, of, by] = [modelsIn(config.loaded, clock, secrets), config.loaded, secrets.changes()]
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

/** What models need of secrets: `filled`, for `secret:NAME`; `know`, told of each key that comes up. */
export type KeySource = Pick<Services['secrets'], 'filled' | 'know'>

export function modelsIn(loaded: LoadedConfig, clock: Clock, { filled, know }: KeySource): Models {
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
      const named = apiKeyOf(provider)
      const key = named && filled(named)
      // One that came up only now.
      if (key !== undefined) know(provider.api_key_env ?? `models.providers.${provider.type}.api_key`, key)
      return key
    },
    filled,
  })
}
