/** Plugin `queue`: drains the queue for commands and the kernel. */

import { extname, join } from 'node:path'
import { createWatchdog, type Watchdog } from '../../adapters/envs/host/watchdog.ts'
import { findInstallation } from '../../adapters/installation/installation.ts'
import { asTirelessError } from '../../domain/error.ts'
import type { StopSignals } from '../../engine/advance.ts'
import { finishInterruptedUndos } from '../../kernel/undo/perform.ts'
import { definePlugin, type Plugin, type PluginHost } from '../../ports/plugin.ts'
import { isSharedStore } from '../../ports/store.ts'
import { homeId } from '../home-id.ts'
import { pinHere } from '../pin-workspaces.ts'
import { createQueueService } from '../queue-service.ts'
import { createStopControl } from '../stop-control.ts'

/** Undos that a killed process of this home began are finished before any run continues, if nobody wrote since. */
async function finishUndos(host: PluginHost): Promise<void> {
  const { store, clock, ids, snapshots } = host.get('engine')
  const log = host.get('log')
  try {
    const documents = host.get('documents')
    const home = isSharedStore(host.get('store')) ? homeId(host.get('home').root) : undefined
    for (const { id, error } of await finishInterruptedUndos({ store, clock, ids, snapshots, documents, homeId: home }))
      if (error === null) log.write('info', 'undo finished', { id })
      else log.write('error', 'undo not finished', { id, message: error })
  } catch (thrown) {
    // Other work must go on; the next start tries again.
    log.write('error', 'undo not finished', { message: asTirelessError(thrown).message })
  }
}

const WATCHDOG = join(import.meta.dirname, `../watchdog-main${extname(import.meta.filename)}`)

function watchCommands(host: PluginHost): Watchdog {
  const { calls, sandbox } = host.get('home')
  const { sandbox_image: image, sandbox: kind } = host.get('config').loaded.config
  return createWatchdog([WATCHDOG, calls, sandbox, kind === 'off' ? '' : (image ?? '')])
}

export function queue(signals: StopSignals): Plugin {
  let leave = async (): Promise<void> => {}
  return definePlugin({
    name: 'queue',
    needs: ['clock', 'engine', 'bell', 'config', 'home', 'leadership', 'log', 'sandbox', 'documents', 'store'],
    provides: ['queue'],
    setup(host) {
      const made = createQueueService({
        engine: host.get('engine'),
        bell: host.get('bell'),
        log: host.get('log'),
        leadership: host.get('leadership'),
        version: () => findInstallation().version,
        homeRoot: () => {
          const { root } = host.get('home')
          return pinHere(host)(root) && root
        },
        watchdog: watchCommands(host),
        homeId: () => homeId(host.get('home').root),
        leaseMs: () => host.get('config').loaded.config.kernel.lease,
        stopControl: createStopControl(host.get('clock'), signals),
        maxConcurrent: () => host.get('config').loaded.config.kernel.max_concurrent,
        // Before any run continues, the document files must match what the runs have been told.
        ready: async (withoutClaims) => {
          await Promise.all([host.get('sandbox').trial(), host.get('documents').catchUp()])
          // A command `undo` may run already, and would be finished a second time.
          await withoutClaims(() => finishUndos(host))
        },
      })
      leave = made.leave
      host.provide('queue', made)
    },
    stop: () => leave(),
  })
}
