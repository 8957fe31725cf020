/** How the page reads the stream of live events, if something on the way cuts it, adds to it or takes away from it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MessageReader } from '../../web/src/message-reader.ts'

const COUNT = 12

const block = (at: number, name: string, data: unknown): string =>
  `id: p.${at}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`

/** What the server sends after an id: where it begins, and what comes later. */
function streamAfter(id: string): string {
  const from = id === '' ? 0 : Number(id.slice(2))
  const later = Array.from({ length: COUNT - from }, (_, i) => block(from + i + 1, 'delta', from + i + 1))
  return `retry: 1000\n${block(from, 'hello', {})}:\n\n${later.join('')}`
}

/** Contract: what was read until the stream ended or could not be read. */
function readFrom(reader: MessageReader, stream: string, size: number): readonly unknown[] {
  const read: unknown[] = []
  try {
    for (let at = 0; at < stream.length; at += size)
      for (const { name, data } of reader.read(stream.slice(at, at + size))) if (name === 'delta') read.push(data)
  } catch {}
  return read
}

/** A line is removed or not, and something is added in its place; the stream ends anywhere. */
const damages = fc.record({
  line: fc.nat(5 * COUNT),
  removed: fc.nat(1),
  added: fc.constantFrom('', '\n', ':\n', '<html>\n', '\n\n:\n\n', '\nid: 999\nevent: delta\ndata: {"cut"\n\n'),
  size: fc.integer({ min: 1, max: 900 }),
  end: fc.nat(900),
})

test('the page: whatever is lost on the way is read from the next connection, once and in order', () => {
  const property = fc.property(fc.array(damages, { maxLength: 6 }), (list) => {
    const reader = new MessageReader()
    const read: unknown[] = []
    for (const { line, removed, added, size, end } of list) {
      const lines = streamAfter(reader.begin()).split(/(?<=\n)/)
      lines.splice(line, removed, added)
      read.push(...readFrom(reader, lines.join('').slice(0, end), size))
    }
    read.push(...readFrom(reader, streamAfter(reader.begin()), 50))
    assert.deepEqual(
      read,
      Array.from({ length: COUNT }, (_, i) => i + 1),
    )
  })
  fc.assert(property, { numRuns: 2000 })
})

test('the page: a message that could not be handled is sent again', () => {
  const reader = new MessageReader()
  const { value } = reader.read(block(0, 'hello', 0)).next()
  assert.deepEqual(value, { name: 'hello', data: 0 })
  assert.equal(reader.begin(), '')
  for (const _ of reader.read(block(0, 'hello', 0) + block(5, 'reset', 0) + block(6, 'delta', 0)));
  assert.equal(reader.begin(), 'p.6')
})
