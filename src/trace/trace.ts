/**
 * Trace: the manifest, events and steps of a run, for debugging and comparison. Computed from the run's records alone.
 */

import type { Event } from '../domain/event.ts'
import { createEventFold } from '../domain/event-fold.ts'
import type { JournalRecord } from '../domain/journal-record.ts'
import type { RunRef } from '../ports/run-sink.ts'
import { addRecordToManifest, newManifest, type TraceManifest } from './manifest.ts'
import { createStepFold, type TraceStep } from './trace-step.ts'

export interface Trace {
  readonly manifest: TraceManifest
  readonly events: readonly Event[]
  readonly steps: readonly TraceStep[]
}

export interface TraceFold {
  /** Contract: takes every record of the run once, in order. */
  apply(record: JournalRecord): { readonly events: readonly Event[]; readonly steps: readonly TraceStep[] }
  manifest(): TraceManifest
}

export function createTraceFold(run: RunRef): TraceFold {
  const eventsOf = createEventFold(run)
  const stepsOf = createStepFold()
  let manifest = newManifest(run)
  let step_count = 0
  let event_count = 0
  return {
    apply(record) {
      const events = eventsOf.apply(record)
      const steps: TraceStep[] = []
      for (const event of events) {
        const step = stepsOf.apply(event)
        if (step) steps.push(step)
      }
      manifest = addRecordToManifest(manifest, record)
      event_count += events.length
      step_count += steps.length
      return { events, steps }
    },
    manifest: () => ({ ...manifest, step_count, event_count }),
  }
}

export function traceFromRecords(run: RunRef, records: readonly JournalRecord[]): Trace {
  const fold = createTraceFold(run)
  const parts = records.map((record) => fold.apply(record))
  return {
    manifest: fold.manifest(),
    events: parts.flatMap(({ events }) => events),
    steps: parts.flatMap(({ steps }) => steps),
  }
}
