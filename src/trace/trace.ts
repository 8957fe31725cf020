/** Trace: the manifest, events and steps of a run, for debugging and comparison. A pure function of its records. */

import { type Event, eventFold } from '../domain/event.ts'
import type { JournalRecord } from '../domain/record.ts'
import type { RunRef } from '../ports/sink.ts'
import { type Manifest, newManifest, withRecord } from './manifest.ts'
import { type Step, stepFold } from './step.ts'

export interface Trace {
  readonly manifest: Manifest
  readonly events: readonly Event[]
  readonly steps: readonly Step[]
}

export interface TraceFold {
  /** Contract: takes every record of the run once, in order. */
  of(record: JournalRecord): { readonly events: readonly Event[]; readonly steps: readonly Step[] }
  manifest(): Manifest
}

export function traceFold(run: RunRef): TraceFold {
  const eventsOf = eventFold(run)
  const stepsOf = stepFold()
  let manifest = newManifest(run)
  let step_count = 0
  let event_count = 0
  return {
    of(record) {
      const events = eventsOf.of(record)
      const steps: Step[] = []
      for (const event of events) {
        const step = stepsOf.of(event)
        if (step) steps.push(step)
      }
      manifest = withRecord(manifest, record)
      event_count += events.length
      step_count += steps.length
      return { events, steps }
    },
    manifest: () => ({ ...manifest, step_count, event_count }),
  }
}

export function traceOf(run: RunRef, records: readonly JournalRecord[]): Trace {
  const fold = traceFold(run)
  const parts = records.map((record) => fold.of(record))
  return {
    manifest: fold.manifest(),
    events: parts.flatMap(({ events }) => events),
    steps: parts.flatMap(({ steps }) => steps),
  }
}
