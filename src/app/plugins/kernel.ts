/** Plugin `kernel`: the loop of beats and cycles. It does nothing until a command runs it. */

import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { KernelService } from '../kernel-service.ts'

export function kernel(): Plugin {
  return definePlugin({
    name: 'kernel',
    needs: [
      ...(['clock', 'storeClock', 'ids', 'home', 'config', 'store', 'bell', 'log', 'documents'] as const),
      ...(['models', 'engine', 'queue', 'notifier', 'skills', 'mcp', 'events', 'sandbox', 'sources'] as const),
      ...(['connections', 'leadership', 'storedPaths', 'needs'] as const),
    ],
    provides: ['kernel'],
    setup(host) {
      host.provide('kernel', new KernelService(host))
    },
  })
}
