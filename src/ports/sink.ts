/** Where events go. */
import type { Delta, Event } from '../domain/event.ts'

export interface Sink {
  /** Contract: must not throw and must not block; whoever tells does not look at what comes of it (I9). */
  event(event: Event): void
  delta(delta: Delta): void
}
