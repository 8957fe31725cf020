/** Plugin `log`: writes every event to the log files. */

import { type Log, openLog } from '../../adapters/log/log.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'

export function log(): Plugin {
  let opened: Log | undefined
  let stopListening = (): void => {}
  return definePlugin({
    name: 'log',
    needs: ['home', 'clock', 'events', 'secrets', 'unhandledErrors'],
    provides: ['log'],
    setup(host) {
      const { cut } = host.get('secrets')
      const openedLog = openLog({ folder: host.get('home').logs, clock: host.get('clock'), redactAndTruncate: cut })
      stopListening = host.get('events').watch((progress) => {
        if (progress.kind === 'event') openedLog.event(progress.event)
      })
      opened = openedLog
      host.get('unhandledErrors').logTo(openedLog)
      host.provide('log', openedLog)
    },
    stop() {
      stopListening()
      opened?.close()
    },
  })
}
