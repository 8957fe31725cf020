import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomIds, sorted } from './ids.ts'

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('ids are version 7 UUIDs that sort by time of making and never repeat, also within a millisecond', () => {
  const made = Array.from({ length: 20_000 }, () => randomIds.next())
  assert.deepEqual(made, made.toSorted())
  assert.equal(new Set(made).size, made.length)
  for (const id of made) assert.match(id, V7)
})

test('when the wall clock goes back, ids still go on', () => {
  const given = [
    '01a1dd91-b362-7ffe-8b91-7179c99f8192',
    '01a1dd91-b361-7e1f-a9f9-ef5f83893cb7',
    '01a1dd91-0000-7e26-948b-a87e3b413192',
    '01a1dd91-b364-747e-a917-a9d7974043f8',
  ]
  const ids = sorted(() => given.shift() ?? assert.fail())
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
