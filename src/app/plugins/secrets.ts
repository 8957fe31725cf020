/** Plugin `secrets`: every known secret, and the redaction of texts. */

import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { createSecretService } from '../secret-service.ts'

export function secrets(): Plugin {
  return definePlugin({
    name: 'secrets',
    needs: ['home', 'config', 'clock'],
    provides: ['secrets'],
    setup(host) {
      host.provide('secrets', createSecretService(host))
    },
  })
}
