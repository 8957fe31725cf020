/**
 * Records as they leave the program: redacted, and their events as lines. The trace and the viewers need the same, one
 * right after the other, so the results for the last record are kept until `forget`.
 */

import type { Event } from '../domain/event.ts'
import type { JournalRecord } from '../domain/journal-record.ts'
import { type Redact, redactValue } from '../domain/redact.ts'
import type { RunRef } from '../ports/run-sink.ts'
import { eventLine, idFields } from './event-line.ts'

const MAX_KNOWN_RUNS = 100

export class RedactedRecords {
  readonly #redact: Redact
  /** Cache of `idFields` by run. */
  readonly #idFields = new Map<string, string>()
  #last: { readonly record: JournalRecord; readonly redacted: JournalRecord } | undefined
  #lastLines: { readonly record: JournalRecord; readonly first: Event; readonly lines: readonly string[] } | undefined

  constructor(redact: Redact) {
    this.#redact = redact
  }

  /** Contract: the record, redacted. */
  redacted(record: JournalRecord): JournalRecord {
    if (this.#last?.record !== record) this.#last = { record, redacted: redactValue(record, this.#redact) }
    return this.#last.redacted
  }

  /** `events`: what a fold of a run has made of `redacted(record)`. Contract: each as a line of JSON. */
  linesOf(record: JournalRecord, events: readonly Event[]): readonly string[] {
    const [first] = events
    if (!first) return []
    const last = this.#lastLines
    if (last?.record === record && last.first.run_id === first.run_id && last.first.seq === first.seq) return last.lines
    const ids = this.#idFieldsOf(first)
    const lines = events.map((event) => eventLine(event, ids))
    this.#lastLines = { record, first, lines }
    return lines
  }

  /** Contract: the same record is redacted anew, because a secret may become known in the meantime. */
  forget(): void {
    this.#last = undefined
    this.#lastLines = undefined
  }

  #idFieldsOf(run: RunRef): string {
    const known = this.#idFields.get(run.run_id)
    if (known !== undefined) return known
    if (this.#idFields.size === MAX_KNOWN_RUNS) this.#idFields.clear()
    const fields = idFields(run)
    this.#idFields.set(run.run_id, fields)
    return fields
  }
}
