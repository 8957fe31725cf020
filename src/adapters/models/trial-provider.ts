/** Providers that are tried before they are configured. */

import type { Model } from '../../ports/model.ts'
import type { ChosenModels, TrialModel, TrialProvider } from '../../ports/model-setup.ts'
import { listOfferedModels } from './list-offered.ts'
import { createModel, findAddress, type ModelRegistryOptions } from './model-registry.ts'
import { configuredProvider, findKey } from './provider-key.ts'
import { findKnownProvider, PROVIDERS } from './providers.ts'

/** Contract: the models of the configuration, with this provider in place of a configured one of its name. */
function withTrial(config: ModelRegistryOptions, { name, ...given }: TrialProvider): ModelRegistryOptions {
  const { api_key, api_key_env, api_key_file, ...kept } = configuredProvider(config, name) ?? { type: given.type }
  const key = given.api_key === undefined ? { api_key, api_key_env, api_key_file } : { api_key: given.api_key }
  const provider = { ...kept, ...key, type: given.type, base_url: given.base_url }
  return { ...config, providers: { ...config.providers, [name]: provider } }
}

export function openTrialModel(config: ModelRegistryOptions, provider: TrialProvider, wanted: TrialModel): Model {
  const id = `${provider.name}/${wanted.model}`
  const prices = wanted.price === undefined ? config.prices : { ...config.prices, [id]: wanted.price }
  return createModel({ ...withTrial(config, provider), prices }, id)
}

export async function listTrialModels(
  given: ModelRegistryOptions,
  provider: TrialProvider,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const config = withTrial(given, provider)
  const known = findKnownProvider(provider.type, config.env)
  const protocol = provider.type === 'openai-compatible' ? provider.type : (known?.protocol ?? 'openai-compatible')
  const configured = configuredProvider(config, provider.name)
  const { baseUrl, baseUrlSetting } = findAddress(provider.name, protocol, configured, known)
  const { value: apiKey, problem } = findKey(config, provider.name)
  if (problem !== undefined) throw problem
  return listOfferedModels(
    { name: provider.name, protocol, baseUrl, setting: baseUrlSetting ?? 'base_url', apiKey },
    { fetch: config.fetch, clock: config.clock, signal },
  )
}

export function describeModels(config: ModelRegistryOptions): ChosenModels {
  const known = Object.entries(PROVIDERS).map(([type, { variable, model }]) => ({
    type: type as keyof typeof PROVIDERS,
    needs_key: variable !== null,
    model,
  }))
  const providers = Object.entries(config.providers).map(([name, { type, base_url }]) => ({
    name,
    type: type as TrialProvider['type'],
    base_url: base_url ?? findKnownProvider(type, config.env)?.base_url ?? '',
  }))
  return { default: config.default, planner: config.planner, fallback: config.fallback, providers, known }
}
