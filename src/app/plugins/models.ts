/** Plugin `models`: the models that can be asked. */

import { type Model, onlyModel } from '../../ports/model.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { createModelService } from '../model-service.ts'

/** `model`: used instead of what the configuration names. */
export function models(model: Model | undefined): Plugin {
  return definePlugin({
    name: 'models',
    needs: ['clock', 'config', 'secrets'],
    provides: ['models'],
    setup(host) {
      host.provide('models', model ? onlyModel(model) : createModelService(host))
    },
  })
}
