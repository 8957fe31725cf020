/** What the records of a step say, in words for people. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { observedParts, readParked } from '../../web/src/runs/step-words.ts'

test('Runs: an observation has no empty and no internal fields', () => {
  assert.deepEqual(observedParts({ rule: null, memory: '', input: '', nonce: '7f' }), [])
  assert.deepEqual(observedParts({ rule: { kind: 'end' }, memory: ' facts\n', input: [], nonce: '7f' }), [
    { name: 'rule', text: '{\n  "kind": "end"\n}' },
    { name: 'memory', text: 'facts' },
  ])
  assert.deepEqual(observedParts('seen'), [{ name: '', text: 'seen' }])
  assert.deepEqual(observedParts(null), [])
  assert.deepEqual(observedParts([1]), [{ name: '', text: '[\n  1\n]' }])
})

test('Runs: a call that waits for an approval says why and until when', () => {
  const parked = JSON.stringify({ parked: true, id: 'a', reason: 'sends', expires_at: '2026-11-20T08:00:00Z' })
  assert.deepEqual(readParked(parked), { reason: 'sends', expires_at: '2026-11-20T08:00:00Z' })
  assert.deepEqual(readParked('{"parked":true}'), { reason: '', expires_at: null })
  for (const other of ['sent', '{"parked":true', '{"parked":false}', '']) assert.equal(readParked(other), undefined)
})
