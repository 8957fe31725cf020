/** Plugin `queue`: drains the queue for commands and the kernel. */

import type { StopSignals } from '../../engine/advance.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { createQueueService } from '../queue-service.ts'
import { createStopControl } from '../stop-control.ts'

export function queue(signals: StopSignals): Plugin {
  let leave = async (): Promise<void> => {}
  return definePlugin({
    name: 'queue',
    needs: ['clock', 'engine', 'bell', 'config', 'log', 'sandbox', 'documents'],
    provides: ['queue'],
    setup(host) {
      const made = createQueueService({
        engine: host.get('engine'),
        bell: host.get('bell'),
        log: host.get('log'),
        stopControl: createStopControl(host.get('clock'), signals),
        maxConcurrent: () => host.get('config').loaded.config.kernel.max_concurrent,
        // Before any run continues, the document files must match what the runs have been told.
        ready: () => Promise.all([host.get('sandbox').trial(), host.get('documents').catchUp()]),
      })
      leave = made.leave
      host.provide('queue', made)
    },
    stop: () => leave(),
  })
}
