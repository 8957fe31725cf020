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
      const maxConcurrent = (): number => host.get('config').loaded.config.kernel.max_concurrent
      // Before any run continues, the document files must match what the runs have been told.
      const ready = () => Promise.all([host.get('sandbox').trial(), host.get('documents').catchUp()])
      const made = createQueueService(
        host.get('engine'),
        host.get('bell'),
        host.get('log'),
        maxConcurrent,
        createStopControl(host.get('clock'), signals),
        ready,
      )
      leave = made.leave
      host.provide('queue', made)
    },
    stop: () => leave(),
  })
}
