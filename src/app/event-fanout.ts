/** From the records of runs to whoever listens. */

import type { Context, Progress } from '../commands/command.ts'
import { deepFreeze } from '../domain/json.ts'
import type { Services } from '../ports/plugin.ts'
import { type Sink, tell as unharmed } from '../ports/sink.ts'
import type { HidingStream } from '../secrets/redactor.ts'
import { eventFolds } from '../trace/folds.ts'
import { hidingStreams } from './redact-streams.ts'

/** `hiding`: how a text that comes in pieces is told without secrets; records hold none. */
export function fanOut(hiding: () => HidingStream): Services['events'] {
  const listeners = new Set<(progress: Progress) => void>()
  const own = new Set<(progress: Progress) => void>()
  const sinks = new Set<Sink>()
  // Nobody who listens can change what another is told, or what a run works with.
  const tell = (told: Progress): void => {
    for (const listener of own) unharmed(() => listener(told))
    if (listeners.size === 0) return
    const progress = deepFreeze(told)
    for (const listener of listeners) unharmed(() => listener(progress))
  }
  const streams = hidingStreams(hiding, (delta) => {
    tell({ kind: 'delta', delta: deepFreeze(delta) })
    for (const sink of sinks) unharmed(() => sink.delta(delta))
  })
  const folds = eventFolds((event) => tell({ kind: 'event', event }))
  return {
    sink: {
      opened(run, past) {
        folds.opened(run, past)
        for (const sink of sinks) unharmed(() => sink.opened(run, past))
      },
      recorded(run, record) {
        streams.release(run)
        folds.recorded(run, record)
        for (const sink of sinks) unharmed(() => sink.recorded(run, record))
      },
      closed(run) {
        streams.release(run)
        folds.closed(run)
        for (const sink of sinks) unharmed(() => sink.closed(run))
      },
      delta: (delta) => streams.take(delta),
    },
    listen(listener: Parameters<Context['listen']>[0]) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    watch(listener) {
      own.add(listener)
      return () => own.delete(listener)
    },
    note(text) {
      const stream = hiding()
      tell({ kind: 'note', text: stream.push(text) + stream.end() })
    },
    add: (sink) => sinks.add(sink),
    following: folds.following,
  }
}
