/**
 * The source `startup`: one event per start of the process.
 * Must not know: who listens.
 * Invariant: a restart of the source within one process publishes nothing new.
 */

import { CLEAN_LABEL } from '../../domain/label.ts'
import { type Clock, iso } from '../../ports/clock.ts'
import type { Source } from '../../ports/source.ts'

/** `boot`: identifies the start of this process. */
export function startupSource(name: string, boot: string, clock: Pick<Clock, 'now'>): Source {
  return {
    ...{ name, type: 'startup' },
    async run(sink) {
      const mark = await sink.mark()
      const at = iso(clock.now())
      const payload = { at, previous: typeof mark === 'string' ? mark : null }
      await sink.publish({
        ...{ id: boot, observation: { type: 'system_event', name: 'started', payload }, label: CLEAN_LABEL, mark: at },
      })
    },
  }
}
