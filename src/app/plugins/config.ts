/** Plugin `config`: the configuration in use. */

import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { createConfigService } from '../config-service.ts'

export function config(file: string | undefined): Plugin {
  return definePlugin({
    name: 'config',
    needs: ['home'],
    provides: ['config'],
    setup(host) {
      host.provide('config', createConfigService(host.get('home'), file))
    },
  })
}
