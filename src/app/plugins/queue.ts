/** Plugin `queue`: drains the queue for commands and the kernel. */

import type { Signals } from '../../engine/advance.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { createQueueService, stoppable } from '../queue-service.ts'

export function queue(signals: Signals): Plugin {
  let leave = async (): Promise<void> => {}
  return definePlugin({
    name: 'queue',
    needs: ['clock', 'engine', 'bell', 'config', 'log', 'sandbox', 'documents'],
    provides: ['queue'],
    setup(host) {
      const most = (): number => host.get('config').loaded.config.kernel.max_concurrent
      // What a run is told was done has to be so in the files, too, before any run goes on.
      const ready = () => Promise.all([host.get('sandbox').trial(), host.get('documents').catchUp()])
      const made = createQueueService(
        host.get('engine'),
        host.get('bell'),
        host.get('log'),
        most,
        stoppable(signals, host.get('clock')),
        ready,
      )
      leave = made.leave
      host.provide('queue', made)
    },
    stop: () => leave(),
  })
}
