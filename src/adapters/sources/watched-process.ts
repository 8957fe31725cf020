/** The source `process` with a pid: reports once that a process which something else started has exited. */

import { TirelessError } from '../../domain/error.ts'
import type { Label } from '../../domain/label.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Source } from '../../ports/source.ts'

interface WatchedProcessOptions {
  readonly name: string
  readonly pid: number
  /** Contract: begins with the pid and identifies the running process for ever; undefined if there is none. */
  identify(pid: number): string | undefined
  readonly label: Label
  readonly clock: Clock
}

const POLL_MS = 1000

/** The mark names the process, so that an exit while no runtime ran is reported, too, and another process is not. */
export function watchedProcessSource({ name, pid, identify, label, clock }: WatchedProcessOptions): Source {
  return {
    ...{ name, type: 'process' },
    async run(sink, signal) {
      const mark = await sink.mark()
      const known = typeof mark === 'string' && mark.startsWith(`${pid} `) ? mark : identify(pid)
      if (known === undefined)
        throw new TirelessError('not_found', {
          ...{ what: 'no process has this number', got: String(pid), fix: `correct sources.${name}.pid` },
        })
      if (mark !== known) await sink.saveMark(known)
      while (identify(pid) === known) {
        await clock.sleep(POLL_MS, signal)
        if (signal.aborted) return
      }
      // How it ended is known to its parent only.
      const payload = { pid, code: null, signal: null }
      await sink.publish({ id: known, observation: { type: 'system_event', name: 'process_exited', payload }, label })
    },
  }
}
