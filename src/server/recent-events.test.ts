import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StreamPart } from './compressed-stream.ts'
import type { LiveMessage } from './live-message.ts'
import { MAX_KEPT_BYTES, RecentEvents } from './recent-events.ts'

const status = (data: unknown): LiveMessage => ({ name: 'status', data })

const plainOf = (parts: readonly StreamPart[]): Buffer => Buffer.concat(parts.map(({ plain }) => plain))

function addBatch(recent: RecentEvents, batch: readonly LiveMessage[]): Buffer {
  for (const message of batch) recent.add(message)
  assert.equal(recent.addedCount(), batch.length)
  return recent.takeAdded().plain
}

/** Batches of all sizes: empty, larger than a part, and so many small ones that they are joined. */
const SIZES = [0, 1, 2, 3, 40, 0, 300, 1, 1, 1, 600, 5, 90, 0, ...Array<number>(150).fill(1)]
const FILLING = '文'.repeat(300)

test('HTTP: from every event that is kept, exactly the later ones follow, whatever the batches were', () => {
  const recent = new RecentEvents('p')
  let all = ''
  let sent = 0
  for (const size of SIZES) {
    // Text that looks like the end of a message and the start of another one.
    const batch = Array.from({ length: size }, (_, i) => status(`\n\nid: p.${sent + i}\n${FILLING}`))
    all += addBatch(recent, batch).toString('utf8')
    sent += size
  }
  const messages = all.split(/(?<=\n\n)/)
  assert.equal(messages.length, sent)
  // Every number near the edges of batches and blocks, and many others.
  for (let at = 0; at <= sent; at += at < 60 || at > sent - 250 ? 1 : 7) {
    const { id, parts = [] } = recent.after(`p.${at}`) ?? {}
    assert.equal(id, `p.${at}`)
    assert.ok(plainOf(parts).equals(Buffer.from(messages.slice(at).join(''))), `after ${at}`)
  }
  assert.equal(recent.after(`p.${sent + 1}`), undefined)
})

test('HTTP: the kept events are bounded; an id before them, and every id after forgetting, is unknown', () => {
  const recent = new RecentEvents('p')
  assert.deepEqual(recent.after('p.0'), { id: 'p.0', parts: [] })
  const text = 'x'.repeat(1000)
  const count = Math.ceil((2 * MAX_KEPT_BYTES) / 1000)
  for (let n = 0; n < count; n += 1) addBatch(recent, [status(text)])
  assert.equal(recent.after('p.1'), undefined)
  const known = Array.from({ length: count }, (_, at) => recent.after(`p.${at}`)).filter((found) => found !== undefined)
  const bytes = plainOf(known[0]?.parts ?? []).length
  assert.ok(bytes <= MAX_KEPT_BYTES && bytes > 0.9 * MAX_KEPT_BYTES, String(bytes))
  const last = recent.lastId()
  recent.forget()
  assert.equal(recent.after(last), undefined)
  assert.deepEqual(recent.after(recent.lastId()), { id: recent.lastId(), parts: [] })
})
