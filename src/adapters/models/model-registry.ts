/**
 * The available models: configured ones, those of providers with a key, and the offline model. A model is created on
 * its first use.
 */

import { asTirelessError, TirelessError } from '../../domain/error.ts'
import { type Price, priceFor } from '../../domain/money.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Model, ModelChoice, ModelEntry, ModelProvider, Models } from '../../ports/model.ts'
import { openAddedModel } from './added-models.ts'
import { normalizeBaseUrl } from './base-url.ts'
import { detectFromEnvironment, detectLocalServer } from './detect-model.ts'
import { offlineModel } from './offline/offline.ts'
import { FREE_PRICE, LIST_PRICES } from './prices.ts'
import {
  type ConfiguredProvider,
  configuredProvider,
  findKey,
  type KeyLookup,
  type ProviderKey,
} from './provider-key.ts'
import { type FoundProvider, findKnownProvider, listKeyVariables, PROVIDERS, type ProtocolName } from './providers.ts'
import type { SdkOptions } from './sdk/sdk-model.ts'

type ConfiguredPrice = Omit<Price, 'max_output'> & { readonly max_output?: number | undefined }

export interface ModelRegistryOptions extends KeyLookup {
  readonly default: string | null
  readonly fallback: readonly string[]
  readonly planner: string | null
  readonly agents: Readonly<Record<string, string>>
  /** Most milliseconds without data from the provider; null: no limit. */
  readonly timeout: number | null
  /** Most tokens that one answer may have. */
  readonly max_output: number
  /** Keys are `provider/model`, with `*` as wildcard. */
  readonly prices: Readonly<Record<string, ConfiguredPrice>>
  /** True if models on this machine are free unless `prices` says otherwise. */
  readonly isLocalFree: boolean
  /** Providers that plugins add, by name. A configured provider of the same name takes precedence. */
  readonly added?: ReadonlyMap<string, ModelProvider>
  readonly clock: Clock
  readonly fetch: typeof globalThis.fetch
  /** Contract: replaces each `secret:NAME` with its value; throws if a secret is missing. */
  resolveSecrets(text: string): string
}

export function createModelRegistry(config: ModelRegistryOptions): Models {
  const models = new Map<string, Model>([[offlineModel.id, offlineModel]])
  const named: ModelChoice | undefined = config.default
    ? { id: config.default, why: 'models.default' }
    : detectFromEnvironment(config.env)
  let defaultChoice: ModelChoice | undefined = named
  let detection: Promise<ModelChoice | undefined> | undefined
  const detectDefault = async (): Promise<ModelChoice> => {
    detection ??= detectLocalServer(config)
    const found = await detection
    defaultChoice ??= found ?? { id: offlineModel.id, why: 'no key is set and no local server answers' }
    return defaultChoice
  }
  const registry: Models = {
    get defaultId() {
      return defaultChoice?.id ?? offlineModel.id
    },
    choice: async () => defaultChoice ?? detectDefault(),
    get(id = registry.defaultId) {
      const model = models.get(id) ?? openAdded(config, id) ?? createModel(config, id)
      models.set(id, model)
      return model
    },
    async fallbackChain({ model, agent, phase, selected } = {}) {
      if (model !== undefined) return [model]
      const agentModel = agent === undefined ? undefined : config.agents[agent]
      const planner = phase === 'planner' ? (config.planner ?? undefined) : undefined
      const first = planner ?? agentModel ?? selected ?? (await registry.choice()).id
      return [...new Set([first, ...config.fallback])]
    },
    list: async () => {
      const { id, why } = await registry.choice()
      return listEntries(config, registry, id, why)
    },
    keys: () => listKeyVariables(config.env),
  }
  return registry
}

/** One entry for each model in use, each configured provider and each provider with a key. */
function listEntries(config: ModelRegistryOptions, models: Models, defaultId: string, why: string): ModelEntry[] {
  const ids = [defaultId, ...config.fallback, config.planner ?? [], Object.values(config.agents)].flat()
  const providers = new Set([...Object.keys(config.providers), ...Object.keys(PROVIDERS)])
  for (const name of providers) {
    if (ids.some((id) => id.startsWith(`${name}/`))) continue
    const model = findKnownProvider(name, config.env)?.model
    if (configuredProvider(config, name) || (model && findKey(config, name).state === 'set'))
      ids.push(`${name}/${model ?? '<model>'}`)
  }
  for (const { name, models } of config.added?.values() ?? [])
    if (addedProvider(config, name)) ids.push(...models.map((model) => `${name}/${model}`))
  return [...new Set([...ids, offlineModel.id])].map((id) => {
    const provider = id.slice(0, Math.max(0, id.indexOf('/')))
    const { state, problem } = checkUsable(config, models, id)
    return {
      id,
      provider,
      source: sourceOf(config, provider, id),
      key: state,
      is_default: id === defaultId,
      why: id === defaultId ? why : config.fallback.includes(id) ? 'models.fallback' : null,
      price: problem === undefined && !id.endsWith('/<model>') ? (models.get(id).price ?? null) : null,
      problem: problem?.message ?? null,
    }
  })
}

function sourceOf(config: ModelRegistryOptions, provider: string, id: string): ModelEntry['source'] {
  if (id === offlineModel.id) return 'built in'
  if (addedProvider(config, provider)) return 'plugin'
  return isConfigured(config, provider, id) ? 'configured' : 'found'
}

/** True if the configuration names the model or its provider. */
function isConfigured(config: ModelRegistryOptions, provider: string, id: string): boolean {
  const named = [config.default, config.planner, ...config.fallback, ...Object.values(config.agents)]
  return configuredProvider(config, provider) !== undefined || named.includes(id)
}

function checkUsable(config: ModelRegistryOptions, models: Models, id: string): Pick<ProviderKey, 'state' | 'problem'> {
  const name = id.slice(0, Math.max(0, id.indexOf('/')))
  const key = id === offlineModel.id ? { state: 'none' as const, isToken: false } : findKey(config, name)
  if (key.problem !== undefined || id.endsWith('/<model>')) return key
  try {
    models.get(id)
    return key
  } catch (thrown) {
    return { ...key, problem: asTirelessError(thrown) }
  }
}

const addedProvider = (config: ModelRegistryOptions, name: string): ModelProvider | undefined =>
  configuredProvider(config, name) ? undefined : config.added?.get(name)

function openAdded(config: ModelRegistryOptions, id: string): Model | undefined {
  const slash = id.indexOf('/')
  const provider = addedProvider(config, id.slice(0, Math.max(0, slash)))
  const { clock, timeout, prices, max_output } = config
  const price = priceFor(id, prices)
  return (
    provider &&
    openAddedModel(provider, id.slice(slash + 1), {
      ...{ clock, timeout },
      price: price && { ...price, max_output: price.max_output ?? max_output },
    })
  )
}

/** Contract: a model that is not kept; throws `model_unknown` or `config_invalid`. */
export function createModel(config: ModelRegistryOptions, id: string): Model {
  const slash = id.indexOf('/')
  const name = id.slice(0, Math.max(0, slash))
  const provider = configuredProvider(config, name)
  const known = findKnownProvider(provider?.type ?? name, config.env)
  const wire = provider?.type === 'openai-compatible' ? 'openai-compatible' : known?.protocol
  if (slash < 1 || slash === id.length - 1 || !wire) throw unknownModel(config, id)
  const { problem, value: apiKey, isToken } = findKey(config, name)
  if (problem !== undefined) throw new TirelessError('config_invalid', problem.parts)
  const timeout = provider?.timeout === undefined ? config.timeout : provider.timeout
  const address = findAddress(name, wire, provider, known)
  const price = findPrice(config, id, provider?.type, address.baseUrl)
  return createLazyModel(id, price, wire, {
    provider: name,
    model: id.slice(slash + 1),
    ...address,
    ...(isToken ? { authToken: apiKey } : { apiKey }),
    headers: mapValues(provider?.headers ?? {}, config.resolveSecrets),
    stream: provider?.stream,
    maxOutput: price?.max_output ?? config.max_output,
    idleTimeoutMs: timeout ?? Number.POSITIVE_INFINITY,
    clock: config.clock,
  })
}

/** The configured address, or else that of the environment, or else the known one. Throws `config_invalid`. */
export function findAddress(
  name: string,
  protocol: ProtocolName,
  provider: ConfiguredProvider | undefined,
  known: FoundProvider | undefined,
): Pick<SdkOptions, 'baseUrl' | 'baseUrlSetting'> {
  const variable = provider?.base_url === undefined ? known?.base_url_variable : undefined
  const setting = variable ?? `models.providers.${name}.base_url`
  const url = provider?.base_url ?? known?.base_url ?? ''
  const usual = known && PROVIDERS[(provider?.type ?? name) as keyof typeof PROVIDERS].base_url
  return { baseUrl: normalizeBaseUrl({ url, setting, protocol, usual }), baseUrlSetting: setting }
}

const mapValues = (texts: Readonly<Record<string, string>>, change: (text: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, change(text)]))

/** The configured price, or else the list price. A provider of a known type has the list prices of that type. */
function findPrice(
  { prices, max_output, isLocalFree: freeAtHome }: ModelRegistryOptions,
  id: string,
  type: string | undefined,
  baseUrl: string,
): Price | null {
  const kind = type === undefined ? id : `${type}${id.slice(id.indexOf('/'))}`
  const localPrice = freeAtHome && isLocal(baseUrl) ? FREE_PRICE : undefined
  const price: ConfiguredPrice | undefined = priceFor(id, prices) ?? priceFor(kind, LIST_PRICES) ?? localPrice
  return price ? { ...price, max_output: price.max_output ?? max_output } : null
}

const isLocal = (url: string): boolean =>
  /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(URL.parse(url)?.hostname ?? '')

function unknownModel({ providers, added }: ModelRegistryOptions, id: string): TirelessError {
  const names = [...new Set([...Object.keys(providers), ...(added?.keys() ?? []), ...Object.keys(PROVIDERS)])]
  return new TirelessError('model_unknown', {
    what: 'unknown model',
    got: id,
    expected: [...names.map((known) => `${known}/<model>`), offlineModel.id].join(' or '),
    fix: 'add its provider to models.providers',
  })
}

const LOADERS: Readonly<Record<ProtocolName, () => Promise<(options: SdkOptions) => Model>>> = {
  'openai-compatible': async () => (await import('./openai-compatible.ts')).createOpenAICompatibleModel,
  openai: async () => (await import('./openai.ts')).createOpenAIModel,
  anthropic: async () => (await import('./anthropic.ts')).createAnthropicModel,
  google: async () => (await import('./google.ts')).createGoogleModel,
}

/**
 * Imports the provider's library on the first call: the import takes most of the start-up time, and most commands need
 * no model.
 */
function createLazyModel(id: string, price: Price | null, wire: ProtocolName, options: SdkOptions): Model {
  let loading: Promise<Model> | undefined
  return {
    id,
    price,
    async call(request, callOptions) {
      loading ??= loadModel(wire, options)
      return (await loading).call(request, callOptions)
    },
  }
}

async function loadModel(wire: ProtocolName, options: SdkOptions): Promise<Model> {
  const makeModel = await LOADERS[wire]()
  try {
    return makeModel(options)
  } catch (thrown) {
    throw new TirelessError('model_unsent', asTirelessError(thrown).parts, { cause: thrown })
  }
}
