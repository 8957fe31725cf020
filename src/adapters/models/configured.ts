/** The models that can be asked: those a configuration names, those whose key is there, and the offline one. Each is made when it is first asked for. */

import { TirelessError } from '../../domain/error.ts'
import { type Price, priceFor } from '../../domain/money.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Choice, Model, ModelEntry, Models } from '../../ports/model.ts'
import { fromEnvironment, fromMachine } from './detect.ts'
import { offlineModel } from './offline.ts'
import { FREE, PRICES } from './prices.ts'
import { type Known, knownProvider, PROVIDERS, type Variables, type WireName } from './providers.ts'
import type { SdkOptions } from './sdk/model.ts'

interface Provider {
  readonly type: string
  readonly base_url?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly stream?: boolean
  readonly timeout?: number | null | undefined
  readonly api_key?: string | undefined
  readonly api_key_env?: string | undefined
  readonly api_key_file?: string | undefined
}

type ConfiguredPrice = Omit<Price, 'max_output'> & { readonly max_output?: number | undefined }

export interface ConfiguredModels {
  readonly default: string | null
  readonly fallback: readonly string[]
  readonly planner: string | null
  readonly agents: Readonly<Record<string, string>>
  /** Milliseconds of silence; null: for ever. */
  readonly timeout: number | null
  /** Tokens of one answer. */
  readonly max_output: number
  readonly providers: Readonly<Record<string, Provider>>
  /** By provider/model, with `*`. */
  readonly prices: Readonly<Record<string, ConfiguredPrice>>
  /** A server on this machine costs nothing, unless a price says otherwise. */
  readonly freeAtHome: boolean
  readonly clock: Clock
  readonly env: Variables
  readonly fetch: typeof globalThis.fetch
  /** Contract: throws where the key that is named is not there; undefined where none is named. */
  apiKeyOf(provider: Provider): string | undefined
  /** Contract: the text with the value of every `secret:NAME` in it; throws where there is none of that name. */
  filled(text: string): string
}

export function configuredModels(config: ConfiguredModels): Models {
  const made = new Map<string, Model>([[offlineModel.id, offlineModel]])
  const named: Choice | undefined = config.default
    ? { id: config.default, why: 'models.default' }
    : fromEnvironment(config.env)
  let found: Choice | undefined = named
  let looking: Promise<Choice> | undefined
  const look = async (): Promise<Choice> => {
    looking ??= fromMachine(config)
    found ??= await looking
    return found
  }
  const models: Models = {
    get defaultId() {
      return found?.id ?? offlineModel.id
    },
    choice: async () => found ?? look(),
    get(id = models.defaultId) {
      const model = made.get(id) ?? make(config, id)
      made.set(id, model)
      return model
    },
    async chain({ model, agent, phase, selected } = {}) {
      if (model !== undefined) return [model]
      const own = agent === undefined ? undefined : config.agents[agent]
      const planner = phase === 'planner' ? (config.planner ?? undefined) : undefined
      const first = planner ?? own ?? selected ?? (await models.choice()).id
      return [...new Set([first, ...config.fallback])]
    },
    list: async () => {
      const { id, why } = await models.choice()
      return entriesOf(config, models, id, why)
    },
  }
  return models
}

/** Every provider that is named or whose key is there, with the model that it would be asked for. */
function entriesOf(config: ConfiguredModels, models: Models, defaultId: string, why: string): ModelEntry[] {
  const ids = [defaultId, ...config.fallback, config.planner ?? [], Object.values(config.agents)].flat()
  const providers = new Set([...Object.keys(config.providers), ...Object.keys(PROVIDERS)])
  for (const name of providers) {
    if (ids.some((id) => id.startsWith(`${name}/`))) continue
    const model = knownProvider(name, config.env)?.model
    if (Object.hasOwn(config.providers, name) || (model && keyOf(config, name).state === 'set'))
      ids.push(`${name}/${model ?? '<model>'}`)
  }
  return [...new Set([...ids, offlineModel.id])].map((id) => {
    const provider = id.slice(0, Math.max(0, id.indexOf('/')))
    const { state, problem } = usable(config, models, id)
    return {
      id,
      provider,
      source: id === offlineModel.id ? 'built in' : isNamed(config, provider, id) ? 'configured' : 'found',
      key: state,
      is_default: id === defaultId,
      why: id === defaultId ? why : config.fallback.includes(id) ? 'models.fallback' : null,
      price: problem === undefined && !id.endsWith('/<model>') ? (models.get(id).price ?? null) : null,
      problem: problem ?? null,
    }
  })
}

/** By the configuration. */
function isNamed(config: ConfiguredModels, provider: string, id: string): boolean {
  const named = [config.default, config.planner, ...config.fallback, ...Object.values(config.agents)]
  return Object.hasOwn(config.providers, provider) || named.includes(id)
}

function usable(config: ConfiguredModels, models: Models, id: string): Pick<KeyState, 'state' | 'problem'> {
  const name = id.slice(0, Math.max(0, id.indexOf('/')))
  const key = id === offlineModel.id ? { state: 'none' as const } : keyOf(config, name)
  if (key.problem !== undefined || id.endsWith('/<model>')) return key
  try {
    models.get(id)
    return key
  } catch (thrown) {
    return { ...key, problem: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}

interface KeyState {
  readonly state: 'set' | 'missing' | 'none'
  readonly value?: string | undefined
  readonly problem?: string | undefined
}

/** What the configuration says of a provider's key, or the variable that a known provider has for it. */
function keyOf(config: ConfiguredModels, name: string): KeyState {
  const given = Object.hasOwn(config.providers, name) ? config.providers[name] : undefined
  const variable = knownProvider(given?.type ?? name, config.env)?.variable ?? undefined
  const named = given && (given.api_key ?? given.api_key_env ?? given.api_key_file) !== undefined
  const provider: Provider | undefined = named ? given : variable ? { type: name, api_key_env: variable } : undefined
  if (!provider) return { state: 'none' }
  try {
    return { state: 'set', value: config.apiKeyOf(provider) }
  } catch (thrown) {
    return { state: 'missing', problem: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}

function make(config: ConfiguredModels, id: string): Model {
  const slash = id.indexOf('/')
  const name = id.slice(0, Math.max(0, slash))
  const given = Object.hasOwn(config.providers, name) ? config.providers[name] : undefined
  const known: Known | undefined = knownProvider(given?.type ?? name, config.env)
  const wire = given?.type === 'openai-compatible' ? 'openai-compatible' : known?.wire
  if (slash < 1 || slash === id.length - 1 || !wire) throw unknownModel(config, id)
  const { problem, value: apiKey } = keyOf(config, name)
  if (problem !== undefined) throw new TirelessError('config_invalid', problem)
  const timeout = given?.timeout === undefined ? config.timeout : given.timeout
  const baseUrl = given?.base_url ?? known?.base_url ?? ''
  const price = priceIn(config, id, given?.type, baseUrl)
  return loadedWhenCalled(id, price, wire, {
    provider: name,
    model: id.slice(slash + 1),
    baseUrl,
    apiKey,
    headers: mapped(given?.headers ?? {}, config.filled),
    stream: given?.stream,
    maxOutput: price?.max_output ?? config.max_output,
    idleTimeoutMs: timeout ?? Number.POSITIVE_INFINITY,
    clock: config.clock,
  })
}

const mapped = (texts: Readonly<Record<string, string>>, change: (text: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, change(text)]))

/** What the configuration says, else the list. A provider of a known kind, under whatever name, is what that kind is. */
function priceIn(
  { prices, max_output, freeAtHome }: ConfiguredModels,
  id: string,
  type: string | undefined,
  baseUrl: string,
): Price | null {
  const kind = type === undefined ? id : `${type}${id.slice(id.indexOf('/'))}`
  const own = freeAtHome && isAtHome(baseUrl) ? FREE : undefined
  const price: ConfiguredPrice | undefined = priceFor(id, prices) ?? priceFor(kind, PRICES) ?? own
  return price ? { ...price, max_output: price.max_output ?? max_output } : null
}

const isAtHome = (url: string): boolean =>
  /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(URL.parse(url)?.hostname ?? '')

function unknownModel({ providers }: ConfiguredModels, id: string): TirelessError {
  const names = [...new Set([...Object.keys(providers), ...Object.keys(PROVIDERS)])]
  return new TirelessError('model_unknown', {
    what: 'there is no such model',
    got: id,
    expected: [...names.map((known) => `${known}/<model>`), offlineModel.id].join(' or '),
    fix: 'add its provider under models.providers',
  })
}

const LOADERS: Readonly<Record<WireName, () => Promise<(options: SdkOptions) => Model>>> = {
  'openai-compatible': async () => (await import('./openai-compatible.ts')).openAICompatible,
  openai: async () => (await import('./openai.ts')).openai,
  anthropic: async () => (await import('./anthropic.ts')).anthropic,
  google: async () => (await import('./google.ts')).google,
}

/** The provider's library is most of the program's start-up time, and most commands ask no model. */
function loadedWhenCalled(id: string, price: Price | null, wire: WireName, options: SdkOptions): Model {
  let loading: Promise<Model> | undefined
  return {
    id,
    price,
    async call(request, given) {
      loading ??= LOADERS[wire]().then((makeModel) => makeModel(options))
      return (await loading).call(request, given)
    },
  }
}
