/** From the records of runs to whoever listens. */

import type { Context, Progress } from '../commands/command.ts'
import { tell as unharmed } from '../engine/run.ts'
import type { Services } from '../ports/plugin.ts'
import type { Sink } from '../ports/sink.ts'
import { eventFolds } from '../trace/folds.ts'

export function fanOut(): Services['events'] {
  const listeners = new Set<(progress: Progress) => void>()
  const sinks = new Set<Sink>()
  const tell = (progress: Progress): void => {
    for (const listener of listeners) unharmed(() => listener(progress))
  }
  const folds = eventFolds((event) => tell({ kind: 'event', event }))
  return {
    sink: {
      opened(run, past) {
        folds.opened(run, past)
        for (const sink of sinks) unharmed(() => sink.opened(run, past))
      },
      recorded(run, record) {
        folds.recorded(run, record)
        for (const sink of sinks) unharmed(() => sink.recorded(run, record))
      },
      closed(run) {
        folds.closed(run)
        for (const sink of sinks) unharmed(() => sink.closed(run))
      },
      delta(delta) {
        tell({ kind: 'delta', delta })
        for (const sink of sinks) unharmed(() => sink.delta(delta))
      },
    },
    listen(listener: Parameters<Context['listen']>[0]) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    note: (text) => tell({ kind: 'note', text }),
    add: (sink) => sinks.add(sink),
    following: folds.following,
  }
}
