/** Distributes records, events and deltas of runs to listeners. */

import type { CommandContext } from '../commands/lib/context.ts'
import { ignoreProgress, type Progress } from '../commands/lib/progress.ts'
import { deepFreeze } from '../domain/json.ts'
import type { Services } from '../ports/plugin.ts'
import { type RunSink, notifySafely as tellSafely } from '../ports/run-sink.ts'
import type { RedactingStream } from '../secrets/redactor.ts'
import { createEventFolds } from '../trace/event-folds.ts'
import { AllRuns } from './all-runs.ts'
import { createRedactingStreams } from './redact-streams.ts'

/** `hiding`: opens a redactor for text that comes in pieces. Records need none, because they are redacted already. */
export function createEventFanout(hiding: () => RedactingStream): Omit<Services['events'], 'redactedRecords'> {
  const listeners = new Set<(progress: Progress) => void>()
  const builtins = new Set<(progress: Progress) => void>()
  const allRuns = new AllRuns()
  const sinks = new Set<RunSink>([allRuns.feed])
  let hasOutsideSink = false
  // Progress is frozen for outside listeners, so that none can change what others or the run see.
  const tell = (progress: Progress): void => {
    for (const listener of builtins) tellSafely(() => listener(progress))
    if (listeners.size > 0) deepFreeze(progress)
    for (const listener of listeners) tellSafely(() => listener(progress))
  }
  const streams = createRedactingStreams(hiding, (delta) => {
    if (hasOutsideSink) deepFreeze(delta)
    tell({ kind: 'delta', delta })
    for (const sink of sinks) tellSafely(() => sink.delta(delta))
  })
  const folds = createEventFolds((event) => tell({ kind: 'event', event }))
  return {
    allRuns,
    sink: {
      onRunOpened(run, past) {
        folds.onRunOpened(run, past)
        for (const sink of sinks) tellSafely(() => sink.onRunOpened(run, past))
      },
      onRecord(run, record) {
        if (hasOutsideSink) deepFreeze(record)
        streams.release(run)
        folds.onRecord(run, record)
        for (const sink of sinks) tellSafely(() => sink.onRecord(run, record))
      },
      onRunClosed(run) {
        streams.release(run)
        folds.onRunClosed(run)
        for (const sink of sinks) tellSafely(() => sink.onRunClosed(run))
      },
      delta: (delta) => streams.take(delta),
    },
    listen(listener: Parameters<CommandContext['listen']>[0], how) {
      if (how?.everywhere && allRuns.isShared()) return allRuns.listen(listener)
      if (listener !== ignoreProgress) listeners.add(listener)
      return () => listeners.delete(listener)
    },
    watch(listener) {
      builtins.add(listener)
      return () => builtins.delete(listener)
    },
    note(text) {
      const stream = hiding()
      const redacted = stream.push(text) + stream.end()
      for (const tellAll of [tell, allRuns.tell]) tellAll({ kind: 'note', text: redacted })
    },
    add(sink) {
      hasOutsideSink = true
      sinks.add(sink)
    },
    addBuiltin: (sink) => sinks.add(sink),
    following: folds.activeCount,
  }
}
