import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededIds } from './seeded-ids.ts'

const take = (count: number, ids = seededIds('a')) => Array.from({ length: count }, () => ids.next())

test('the same seed makes the same ids, sorted by time of making', () => {
  assert.deepEqual(take(12), take(12))
  assert.deepEqual(take(1200), take(1200).toSorted())
})

test('another seed, or a later start, makes other ids', () => {
  const all = [...take(10), ...take(10, seededIds('b')), ...take(10, seededIds('a', 11))]
  assert.equal(new Set(all).size, 30)
})
