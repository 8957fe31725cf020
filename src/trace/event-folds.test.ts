import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  actingTurn,
  buildJournal,
  inputBound,
  modelAnswered,
  modelRequested,
  RUN,
  runEnded,
  runStarted,
  stepCommitted,
} from '../../test/support/journals.ts'
import type { Event } from '../domain/event.ts'
import { eventsFromRecords } from '../domain/event-fold.ts'
import type { JournalRecord } from '../domain/journal-record.ts'
import { redactValue } from '../domain/redact.ts'
import { createRecordFolds } from './event-folds.ts'

const SECRET = 'hunter2'
const hide = (text: string): string => text.replaceAll(SECRET, '***')

describe('a run with a long history', () => {
  const past = [runStarted(), ...actingTurn(1), ...actingTurn(2), ...actingTurn(3, 'poke', {}, `found ${SECRET}`)]
  // A decision is emitted with the next record, so the fold keeps it until then.
  const open = [inputBound(4), modelRequested(4), modelAnswered(4, { text: `It is ${SECRET}.` })]
  const whole = buildJournal(
    ...past,
    ...open,
    stepCommitted(4, { next: { kind: 'end', stop_reason: 'final' } }),
    runEnded(),
  )

  test('continues without redacting committed steps again', () => {
    const fitted: JournalRecord[] = []
    const folds = createRecordFolds(
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
      const folds = createRecordFolds(
        (events) => emitted.push(...events),
        (record) => redactValue(record, hide),
      )
      folds.onRunOpened(RUN, whole.slice(0, upto))
      for (const record of whole.slice(upto)) folds.onRecord(RUN, record)
      assert.deepEqual(emitted, all.slice(-emitted.length))
    }
  })
})
