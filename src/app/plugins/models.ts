/** Plugin `models`: the models of the configuration, or one given model. */

import { LIST_PRICES } from '../../adapters/models/prices.ts'
import { createProvidedModel, providedModelId } from '../../adapters/models/sdk/provided-model.ts'
import { priceFor } from '../../domain/money.ts'
import { type GivenModel, type Model, singleModel } from '../../ports/model.ts'
import { definePlugin, type Plugin, type PluginHost } from '../../ports/plugin.ts'
import { isProviderModel } from '../check-options.ts'
import { createModelService } from '../model-service.ts'

/** `given`: replaces the models of the configuration. */
export function models(given: GivenModel | undefined): Plugin {
  return definePlugin({
    name: 'models',
    needs: ['clock', 'config', 'secrets', 'modelProviders'],
    provides: ['models'],
    setup(host) {
      host.provide('models', given ? singleModel(toModel(given, host)) : createModelService(host))
    },
  })
}

function toModel(given: GivenModel, host: PluginHost): Model {
  if (isProviderModel(given)) return toModel({ model: given }, host)
  if (!('model' in given)) return given
  const { prices, max_output } = host.get('config').loaded.config.models
  const id = providedModelId(given.model)
  const listed = priceFor(id, prices) ?? priceFor(id, LIST_PRICES)
  const price = given.price ?? (listed ? { max_output, ...listed } : null)
  return createProvidedModel(given.model, price, host.get('clock'))
}
