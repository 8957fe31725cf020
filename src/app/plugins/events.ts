/** Plugin `events`: passes the records and deltas of runs on to listeners. */

import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import type { RunSink } from '../../ports/run-sink.ts'
import { RedactedRecords } from '../../trace/redacted-records.ts'
import { createEventFanout } from '../event-fanout.ts'

export function events(): Plugin {
  return definePlugin({
    name: 'events',
    needs: ['secrets'],
    provides: ['events'],
    setup(host) {
      const { redact, stream } = host.get('secrets')
      const [fanout, redactedRecords] = [createEventFanout(stream), new RedactedRecords(redact)]
      const onRecord: RunSink['onRecord'] = (run, record) => {
        fanout.sink.onRecord(run, record)
        redactedRecords.forget()
      }
      host.provide('events', { ...fanout, redactedRecords, sink: { ...fanout.sink, onRecord } })
    },
  })
}
