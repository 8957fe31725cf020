/** The models of the current configuration. */

import { createModelRegistry, type ModelRegistryOptions } from '../adapters/models/model-registry.ts'
import { describeModels, listTrialModels, openTrialModel } from '../adapters/models/trial-provider.ts'
import { environment, type LoadedConfig, mindsMoney, resolveApiKey } from '../config.ts'
import type { Clock } from '../ports/clock.ts'
import type { ModelProvider, Models } from '../ports/model.ts'
import type { ModelSetup, TrialProvider } from '../ports/model-setup.ts'
import type { PluginHost, Services } from '../ports/plugin.ts'
import { checkSecret } from '../secrets/secret-refs.ts'

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

/** Contract: always about the current configuration. */
export function createModelSetup(host: PluginHost): ModelSetup {
  const [config, clock, secrets] = [host.get('config'), host.get('clock'), host.get('secrets')]
  const options = (): ModelRegistryOptions =>
    registryOptions(config.loaded, clock, secrets, host.get('modelProviders').all)
  const checked = (provider: TrialProvider): TrialProvider => {
    // A text that is no secret would make other texts unreadable, once it is redacted.
    if (provider.api_key !== undefined) checkSecret(`key-of-${provider.name}`, provider.api_key)
    return provider
  }
  return {
    describe: () => describeModels(options()),
    openTrial: (provider, wanted) => openTrialModel(options(), checked(provider), wanted),
    listOffered: async (provider, signal) => listTrialModels(options(), checked(provider), signal),
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
  return createModelRegistry(registryOptions(loaded, clock, { filled, know }, added))
}

function registryOptions(
  loaded: LoadedConfig,
  clock: Clock,
  { filled, know }: KeySource,
  added: ReadonlyMap<string, ModelProvider>,
): ModelRegistryOptions {
  const { kernel, models: given } = loaded.config
  return {
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
  }
}
