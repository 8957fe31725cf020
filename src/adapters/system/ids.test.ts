import assert from 'node:assert/strict'
import { test } from 'node:test'
import { increasingIds, randomIds } from './ids.ts'

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('ids are version 7 UUIDs that sort by creation time and never repeat, even within a millisecond', () => {
  const ids = Array.from({ length: 20_000 }, () => randomIds.next())
  assert.deepEqual(ids, ids.toSorted())
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids) assert.match(id, V7)
})

test('ids keep increasing when the wall clock goes back', () => {
  const generated = [
    '01a1dd91-b362-7ffe-8b91-7179c99f8192',
    '01a1dd91-b361-7e1f-a9f9-ef5f83893cb7',
    '01a1dd91-0000-7e26-948b-a87e3b413192',
    '01a1dd91-b364-747e-a917-a9d7974043f8',
  ]
  const ids = increasingIds(() => generated.shift() ?? assert.fail())
  assert.deepEqual(
    [ids.next(), ids.next(), ids.next(), ids.next()],
    [
      '01a1dd91-b362-7ffe-8b91-7179c99f8192',
      '01a1dd91-b362-7fff-a9f9-ef5f83893cb7',
      '01a1dd91-b363-7000-948b-a87e3b413192',
      '01a1dd91-b364-747e-a917-a9d7974043f8',
    ],
  )
})
