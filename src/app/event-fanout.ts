/** Distributes records, events and deltas of runs to listeners. */

import { type Context, ignoreProgress, type Progress } from '../commands/command.ts'
import { deepFreeze } from '../domain/json.ts'
import type { Services } from '../ports/plugin.ts'
import { type Sink, tell as tellSafely } from '../ports/sink.ts'
import type { HidingStream } from '../secrets/redactor.ts'
import { eventFolds } from '../trace/folds.ts'
import { hidingStreams } from './redact-streams.ts'

/** `hiding`: opens a redactor for text that comes in pieces. Records are redacted already. */
export function fanOut(hiding: () => HidingStream): Services['events'] {
  const listeners = new Set<(progress: Progress) => void>()
  const builtins = new Set<(progress: Progress) => void>()
  const sinks = new Set<Sink>()
  let hasOutsideSink = false
  // Frozen for outside listeners, so that none can change what others or the run see.
  const tell = (progress: Progress): void => {
    for (const listener of builtins) tellSafely(() => listener(progress))
    if (listeners.size === 0) return
    const frozen = deepFreeze(progress)
    for (const listener of listeners) tellSafely(() => listener(frozen))
  }
  const streams = hidingStreams(hiding, (delta) => {
    if (hasOutsideSink) deepFreeze(delta)
    tell({ kind: 'delta', delta })
    for (const sink of sinks) tellSafely(() => sink.delta(delta))
  })
  const folds = eventFolds((event) => tell({ kind: 'event', event }))
  return {
    sink: {
      opened(run, past) {
        folds.opened(run, past)
        for (const sink of sinks) tellSafely(() => sink.opened(run, past))
      },
      recorded(run, record) {
        if (hasOutsideSink) deepFreeze(record)
        streams.release(run)
        folds.recorded(run, record)
        for (const sink of sinks) tellSafely(() => sink.recorded(run, record))
      },
      closed(run) {
        streams.release(run)
        folds.closed(run)
        for (const sink of sinks) tellSafely(() => sink.closed(run))
      },
      delta: (delta) => streams.take(delta),
    },
    listen(listener: Parameters<Context['listen']>[0]) {
      if (listener !== ignoreProgress) listeners.add(listener)
      return () => listeners.delete(listener)
    },
    watch(listener) {
      builtins.add(listener)
      return () => builtins.delete(listener)
    },
    note(text) {
      const stream = hiding()
      tell({ kind: 'note', text: stream.push(text) + stream.end() })
    },
    add(sink) {
      hasOutsideSink = true
      sinks.add(sink)
    },
    addBuiltin: (sink) => sinks.add(sink),
    following: folds.following,
  }
}
