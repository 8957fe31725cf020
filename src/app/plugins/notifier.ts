/** Plugin `notifier`: posts notices and the progress of runs, and delivers the outbox. */

import { checkFile } from '../../adapters/channels/check-file.ts'
import { postRequest } from '../../adapters/channels/post-request.ts'
import { messageTools } from '../../adapters/tools/tools.ts'
import { Notifier } from '../../kernel/notify/notifier.ts'
import { ProgressMessages } from '../../kernel/notify/progress-messages.ts'
import { describeReport } from '../../past/describe-report.ts'
import { findShiftReport } from '../../past/shift-report.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'

/** It does nothing by itself; commands that run the kernel also run the notifier. */
export function notifier(): Plugin {
  return definePlugin({
    name: 'notifier',
    needs: ['config', 'clock', 'store', 'bell', 'events', 'log', 'secrets', 'channels', 'past', 'tools'],
    provides: ['notifier', 'progressMessages'],
    setup(host) {
      const [config, clock, log] = [host.get('config'), host.get('clock'), host.get('log')]
      const made = new Notifier({
        ...{ clock, store: host.get('store'), wakeSignal: host.get('bell'), channels: host.get('channels').all },
        settings: () => config.loaded.config.kernel,
        checkFile,
        report: async (period, language) => {
          const past = host.get('past')
          const found = await findShiftReport(past, { ...period, said: '' })
          return found.runs.length === 0
            ? undefined
            : describeReport(found, { language, clock: past.clock(), now: past.now() })
        },
        redact: host.get('secrets').redact,
        ping: (url, signal) => postRequest(url, { method: 'GET' }, clock.now(), signal),
        log: (level, event, details) => log.write(level, event, details),
      })
      const progress = new ProgressMessages({
        ...{ clock, store: host.get('store'), channels: host.get('channels').all },
        follow: () => host.get('events').allRuns.follow(),
        redact: host.get('secrets').redact,
        log: (level, event, details) => log.write(level, event, details),
      })
      host.get('events').allRuns.addViewer(progress.sink)
      host.provide('notifier', made)
      host.provide('progressMessages', progress)
      host.get('tools').add(...messageTools(made))
    },
  })
}
