/** Plugin `events`: passes the records and deltas of runs on to listeners. */

import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { createEventFanout } from '../event-fanout.ts'

export function events(): Plugin {
  return definePlugin({
    name: 'events',
    needs: ['secrets'],
    provides: ['events'],
    setup(host) {
      host.provide('events', createEventFanout(host.get('secrets').stream))
    },
  })
}
