/** The models a configuration names, made when they are first asked for. Without one: the offline model. */

import { TirelessError } from '../../domain/error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Model, Models } from '../../ports/model.ts'
import { offlineModel } from './offline.ts'
import type { OpenAICompatibleOptions } from './openai-compatible.ts'

interface Provider {
  readonly type: string
  readonly base_url?: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly stream: boolean
  readonly timeout?: number | null | undefined
}

export interface ConfiguredModels<P extends Provider> {
  readonly default: string | null
  /** Milliseconds of silence; null: for ever. */
  readonly timeout: number | null
  readonly providers: Readonly<Record<string, P>>
  readonly clock: Clock
  apiKeyOf(provider: P): string | undefined
}

export function configuredModels<P extends Provider>(config: ConfiguredModels<P>): Models {
  const made = new Map<string, Model>([[offlineModel.id, offlineModel]])
  const defaultId = config.default ?? offlineModel.id
  return {
    defaultId,
    get(id = defaultId) {
      const model = made.get(id) ?? make(config, id)
      made.set(id, model)
      return model
    },
  }
}

function make<P extends Provider>(config: ConfiguredModels<P>, id: string): Model {
  const slash = id.indexOf('/')
  const name = id.slice(0, slash)
  const provider =
    slash > 0 && slash < id.length - 1 && Object.hasOwn(config.providers, name) ? config.providers[name] : undefined
  if (!provider)
    throw new TirelessError('model_unknown', {
      what: 'there is no such model',
      got: id,
      expected: [...Object.keys(config.providers).map((known) => `${known}/<model>`), offlineModel.id].join(' or '),
      fix: 'add its provider under models.providers',
    })
  if (provider.type !== 'openai-compatible')
    throw new TirelessError('model_unknown', {
      what: `providers of type ${provider.type} cannot be used yet`,
      got: id,
      expected: 'type openai-compatible',
      fix: 'name its OpenAI-compatible address as base_url',
    })
  const timeout = provider.timeout === undefined ? config.timeout : provider.timeout
  return loadedWhenCalled(id, {
    provider: name,
    model: id.slice(slash + 1),
    baseUrl: provider.base_url ?? '',
    apiKey: config.apiKeyOf(provider),
    headers: provider.headers,
    stream: provider.stream,
    idleTimeoutMs: timeout ?? Number.POSITIVE_INFINITY,
    clock: config.clock,
  })
}

/** The provider's library is most of the program's start-up time, and most commands ask no model. */
function loadedWhenCalled(id: string, options: OpenAICompatibleOptions): Model {
  let loading: Promise<Model> | undefined
  const load = async (): Promise<Model> => (await import('./openai-compatible.ts')).openAICompatible(options)
  return {
    id,
    async call(request, given) {
      loading ??= load()
      return (await loading).call(request, given)
    },
  }
}
