/** Plugin `models`: the models of the configuration, or one given model. */

import { type Model, singleModel } from '../../ports/model.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { createModelService } from '../model-service.ts'

/** `model`: replaces the models of the configuration. */
export function models(model: Model | undefined): Plugin {
  return definePlugin({
    name: 'models',
    needs: ['clock', 'config', 'secrets', 'modelProviders'],
    provides: ['models'],
    setup(host) {
      host.provide('models', model ? singleModel(model) : createModelService(host))
    },
  })
}
