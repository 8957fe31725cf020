import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededIds } from './seeded-ids.ts'

const makeIds = (count: number, ids = seededIds('a')) => Array.from({ length: count }, () => ids.next())

test('the same seed makes the same ids, sorted by creation time', () => {
  assert.deepEqual(makeIds(12), makeIds(12))
  assert.deepEqual(makeIds(1200), makeIds(1200).toSorted())
})

test('another seed or a later start makes other ids', () => {
  const all = [...makeIds(10), ...makeIds(10, seededIds('b')), ...makeIds(10, seededIds('a', 11))]
  assert.equal(new Set(all).size, 30)
})
