/** Plugin `log`: writes every event to the log files. */

import { type Log, openLog } from '../../adapters/log.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'

export function log(): Plugin {
  let opened: Log | undefined
  let stopListening = (): void => {}
  return definePlugin({
    name: 'log',
    needs: ['home', 'clock', 'events', 'secrets', 'strays'],
    provides: ['log'],
    setup(host) {
      const { cut } = host.get('secrets')
      const made = openLog({ folder: host.get('home').logs, clock: host.get('clock'), cut })
      stopListening = host.get('events').watch((progress) => {
        if (progress.kind === 'event') made.event(progress.event)
      })
      opened = made
      host.get('strays').logTo(made)
      host.provide('log', made)
    },
    stop() {
      stopListening()
      opened?.close()
    },
  })
}
