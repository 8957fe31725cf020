/** The models of the current configuration. */

import { createModelRegistry } from '../adapters/models/model-registry.ts'
import { environment, type LoadedConfig, mindsMoney, resolveApiKey } from '../config.ts'
import type { Clock } from '../ports/clock.ts'
import type { ModelProvider, Models } from '../ports/model.ts'
import type { PluginHost, Services } from '../ports/plugin.ts'

/** Rebuilds the models when the configuration or the secrets change. */
export function createModelService(host: PluginHost): Models {
  const [config, clock, secrets] = [host.get('config'), host.get('clock'), host.get('secrets')]
  const added = host.get('modelProviders').all
  let [built, builtFrom, builtWith]: [Models | undefined, LoadedConfig | undefined, number] = [undefined, undefined, -1]
  const current = (): Models => {
    if (!built || builtFrom !== config.loaded || builtWith !== secrets.changes())
      [built, builtFrom, builtWith] = [
        buildModels(config.loaded, clock, secrets, added),
        config.loaded,
        secrets.changes(),
      ]
    return built
  }
  return {
    get defaultId() {
      return current().defaultId
    },
    choice: () => current().choice(),
    get: (id) => current().get(id),
    fallbackChain: (wanted) => current().fallbackChain(wanted),
    list: () => current().list(),
    keys: () => current().keys(),
  }
}

/** What models need of secrets: `filled` replaces `secret:NAME`; `know` has a key redacted. */
export type KeySource = Pick<Services['secrets'], 'filled' | 'know'>

export function buildModels(
  loaded: LoadedConfig,
  clock: Clock,
  { filled, know }: KeySource,
  added: ReadonlyMap<string, ModelProvider> = new Map(),
): Models {
  const { kernel, models: given } = loaded.config
  return createModelRegistry({
    ...given,
    agents: Object.fromEntries(
      kernel.agents.flatMap(({ agent_id, model: own }) => (own === null ? [] : [[agent_id, own]])),
    ),
    isLocalFree: !mindsMoney(loaded),
    ...{ added, clock },
    env: environment(),
    fetch: globalThis.fetch,
    apiKeyOf(provider) {
      const reference = resolveApiKey(provider)
      const key = reference && filled(reference)
      // The key may be new, so have it redacted from now on.
      if (key !== undefined) know(provider.api_key_env ?? `models.providers.${provider.type}.api_key`, key)
      return key
    },
    resolveSecrets: filled,
  })
}
