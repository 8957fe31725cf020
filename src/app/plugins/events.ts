/** Plugin `events`: passes the records and deltas of runs on to listeners. */

import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { RedactedRecords } from '../../trace/redacted-records.ts'
import { createEventFanout } from '../event-fanout.ts'

export function events(): Plugin {
  return definePlugin({
    name: 'events',
    needs: ['secrets'],
    provides: ['events'],
    setup(host) {
      const { redact, stream } = host.get('secrets')
      host.provide('events', { ...createEventFanout(stream), redactedRecords: new RedactedRecords(redact) })
    },
  })
}
