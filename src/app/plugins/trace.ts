/** Plugin `trace`: writes a trace of every run. */

import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { type TraceWriter, traceWriter } from '../../trace/writer.ts'

export function trace(): Plugin {
  let writer: TraceWriter | undefined
  return definePlugin({
    name: 'trace',
    needs: ['home', 'clock', 'events', 'store'],
    setup(host) {
      const store = host.get('store')
      const { redactedRecords: records } = host.get('events')
      const made = traceWriter({ folder: host.get('home').traces, clock: host.get('clock'), records })
      writer = made
      host.get('events').addBuiltin({
        onRunOpened: (run, past) => made.onRunOpened(run, past),
        onRunClosed() {},
        delta() {},
        onRecord(run, record) {
          made.onRecord(run, record)
          // The end of another run: if a run was set aside as dead, the next run of the session records its end.
          if (record.kind === 'run_ended' && record.run_id !== run.run_id)
            store.journal(run.session_id).then(
              (journal) => made.onRunOpened({ ...run, run_id: record.run_id }, journal),
              () => {},
            )
        },
      })
    },
    stop: () => writer?.close(),
  })
}
