/** Plugin `commands`: the context that every command runs in. */

import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { createCommandContext } from '../command-context.ts'

export function commands(): Plugin {
  return definePlugin({
    name: 'commands',
    needs: [
      'home',
      'storedPaths',
      'config',
      'clock',
      'storeClock',
      'ids',
      'store',
      'bell',
      'models',
      'modelProviders',
      'events',
      'behaviours',
      'tools',
      'engine',
      'past',
      'queue',
      'kernel',
      'notifier',
      'progressMessages',
      'residents',
      'channels',
      'connections',
      'documents',
      'secrets',
      'skills',
      'plugins',
      'mcp',
      'server',
      'sources',
      'sandbox',
      'unhandledErrors',
    ],
    provides: ['commands'],
    setup(host) {
      host.provide('commands', createCommandContext(host))
    },
  })
}
