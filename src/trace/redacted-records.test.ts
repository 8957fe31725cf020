import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actingTurn, buildJournal, finalTurn, RUN, runStarted } from '../../test/support/journals.ts'
import { createEventFold } from '../domain/event-fold.ts'
import { RedactedRecords } from './redacted-records.ts'

const SECRET = 'hunter2'
const whole = buildJournal(runStarted(), ...actingTurn(1, 'poke', {}, `it is ${SECRET}`), ...finalTurn(2))

test('the trace and the viewers share the work: each record is redacted once, each line is made once', () => {
  let looked = 0
  const records = new RedactedRecords((text) => {
    looked += 1
    return text.replaceAll(SECRET, '‹secret›')
  })
  const folds = [createEventFold(RUN), createEventFold(RUN)]
  const lines = whole.map((record) => {
    const before = looked
    const [first, second] = folds.map((fold) => records.linesOf(record, fold.apply(records.redacted(record))))
    const looks = looked - before
    records.redacted({ ...record })
    assert.equal(looked - before, 2 * looks, 'a copy is another record')
    if (first && first.length > 0) assert.equal(second, first)
    return first ?? []
  })
  const fold = createEventFold(RUN)
  const events = whole.flatMap((record) => fold.apply(record))
  assert.deepEqual(
    lines.flat(),
    events.map((event) => JSON.stringify(event).replaceAll(SECRET, '‹secret›')),
  )
})

test('a record that comes again later is redacted with what is known by then', () => {
  const known: string[] = []
  const records = new RedactedRecords((text) =>
    known.reduce((left, secret) => left.replaceAll(secret, '‹secret›'), text),
  )
  const settled = whole.find(({ kind }) => kind === 'call_settled')
  assert.ok(settled)
  assert.match(JSON.stringify(records.redacted(settled)), /it is hunter2/)
  known.push(SECRET)
  records.forget()
  assert.match(JSON.stringify(records.redacted(settled)), /it is ‹secret›/)
})

test('a record that belongs to two runs has lines of its own in each', () => {
  const records = new RedactedRecords((text) => text)
  const [record] = whole
  assert.ok(record)
  const ofRun = (run_id: string): string => {
    const run = { ...RUN, run_id }
    return records.linesOf(record, createEventFold(run).apply(records.redacted(record))).join('\n')
  }
  assert.match(ofRun('one'), /"run_id":"one"/)
  assert.match(ofRun('two'), /"run_id":"two"/)
})
