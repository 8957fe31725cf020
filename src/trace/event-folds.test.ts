import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  acting,
  answered,
  bound,
  committed,
  ended,
  RUN,
  recordsOf,
  requested,
  started,
} from '../../test/support/journals.ts'
import { type Event, eventsFromRecords } from '../domain/event.ts'
import type { JournalRecord } from '../domain/journal-record.ts'
import { redactValue } from '../domain/redact.ts'
import { createEventFolds } from './event-folds.ts'

const SECRET = 'hunter2'
const hide = (text: string): string => text.replaceAll(SECRET, '***')

describe('D5: a run with a long history', () => {
  const past = [started(), ...acting(1), ...acting(2), ...acting(3, 'poke', {}, `found ${SECRET}`)]
  // A decision is emitted with the next record, so the fold keeps it until then.
  const open = [bound(4), requested(4), answered(4, { text: `It is ${SECRET}.` })]
  const whole = recordsOf(...past, ...open, committed(4, { next: { kind: 'end', stop_reason: 'final' } }), ended())

  test('continues without redacting committed steps again', () => {
    const fitted: JournalRecord[] = []
    const folds = createEventFolds(
      () => {},
      (record) => {
        fitted.push(record)
        return record
      },
    )
    folds.onRunOpened(RUN, whole.slice(0, past.length + open.length))
    assert.deepEqual(fitted, whole.slice(past.length, past.length + open.length))
  })

  test('gives the same events as a fold from the beginning, without secrets', () => {
    const all = eventsFromRecords(
      RUN,
      whole.map((record) => redactValue(record, hide)),
    )
    for (let upto = 1; upto < whole.length; upto++) {
      const emitted: Event[] = []
      const folds = createEventFolds(
        (event) => emitted.push(event),
        (record) => redactValue(record, hide),
      )
      folds.onRunOpened(RUN, whole.slice(0, upto))
      for (const record of whole.slice(upto)) folds.onRecord(RUN, record)
      assert.deepEqual(emitted, all.slice(-emitted.length))
    }
  })
})
