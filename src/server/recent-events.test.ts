import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StreamPart } from './compressed-stream.ts'
import type { LiveMessage } from './live-message.ts'
import { MAX_KEPT_BYTES, RecentEvents } from './recent-events.ts'

const status = (data: unknown): LiveMessage => ({ name: 'status', data })

const plainOf = (parts: readonly StreamPart[]): Buffer => Buffer.concat(parts.map(({ plain }) => plain))

async function addBatch(recent: RecentEvents, batch: readonly LiveMessage[]): Promise<Buffer> {
  recent.add(batch)
  assert.equal(recent.addedCount(), batch.length)
  const part = await recent.takeAdded()
  assert.ok(part)
  return part.plain
}

/** Batches of all sizes: empty, larger than a part, and so many small ones that they are joined. */
const SIZES = [0, 1, 2, 3, 40, 0, 300, 1, 1, 1, 600, 5, 90, 0, ...Array<number>(150).fill(1)]
const FILLING = '文'.repeat(300)

test('HTTP: from every event that is kept, exactly the later ones follow, whatever the batches were', async () => {
  const recent = new RecentEvents('p')
  let all = ''
  let sent = 0
  for (const size of SIZES) {
    // Text that looks like the end of a message and the start of another one.
    const batch = Array.from({ length: size }, (_, i) => status(`\n\nid: p.${sent + i}\n${FILLING}`))
    all += (await addBatch(recent, batch)).toString('utf8')
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

test('HTTP: the kept events are bounded; an id before them, and every id after forgetting, is unknown', async () => {
  const recent = new RecentEvents('p')
  assert.deepEqual(recent.after('p.0'), { id: 'p.0', parts: [] })
  const text = 'x'.repeat(1000)
  const count = Math.ceil((2 * MAX_KEPT_BYTES) / 1000)
  for (let n = 0; n < count; n += 1) await addBatch(recent, [status(text)])
  assert.equal(recent.after('p.1'), undefined)
  const known = Array.from({ length: count }, (_, at) => recent.after(`p.${at}`)).filter((found) => found !== undefined)
  const bytes = plainOf(known[0]?.parts ?? []).length
  assert.ok(bytes <= MAX_KEPT_BYTES && bytes > 0.9 * MAX_KEPT_BYTES, String(bytes))
  const last = recent.lastId()
  recent.forget()
  assert.equal(recent.after(last), undefined)
  assert.deepEqual(recent.after(recent.lastId()), { id: recent.lastId(), parts: [] })
})

test('HTTP: a part keeps no more memory than its bytes', async () => {
  const recent = new RecentEvents('p')
  const parts: StreamPart[] = []
  for (const size of [1, 300, 20_000, 700_000]) {
    recent.add([status('x'.repeat(size)), status('y')])
    const part = await recent.takeAdded()
    assert.ok(part)
    parts.push(part)
  }
  for (const { compressed, plain } of [...parts, ...(recent.after('p.0')?.parts ?? []), StreamPart.join(parts)])
    assert.deepEqual(
      [compressed, plain].map(({ buffer }) => buffer.byteLength),
      [compressed.length, plain.length],
    )
})

test('HTTP: what waits to be compressed is bounded, while it cannot be compressed', async () => {
  const recent = new RecentEvents('p')
  const text = 'x'.repeat(100_000)
  const before = process.memoryUsage().arrayBuffers
  // The other thread answers only after this turn of the event loop.
  for (let n = 0; n < 600; n += 1) recent.add([status(text)])
  const grown = process.memoryUsage().arrayBuffers - before
  assert.ok(grown < 50 * 1024 * 1024, `${grown} bytes`)
  const plain = (await recent.takeAdded())?.plain.toString('utf8') ?? ''
  assert.deepEqual(
    [...plain.matchAll(/^id: p\.(\d+)$/gm)].map(([, number]) => Number(number)),
    Array.from({ length: 600 }, (_, n) => n + 1),
  )
})

test('HTTP: what is being compressed while everything is forgotten is neither sent nor kept', async () => {
  const recent = new RecentEvents('p')
  await addBatch(recent, [status('one')])
  recent.add([status('x'.repeat(1_000_000))])
  const taking = recent.takeAdded()
  recent.forget()
  recent.add([status('two')])
  assert.equal(await taking, undefined)
  const [before, part] = [recent.lastId(), await recent.takeAdded()]
  assert.match(part?.plain.toString('utf8') ?? '', /^id: p\.4\nevent: status\ndata: "two"\n\n$/)
  assert.deepEqual(plainOf(recent.after(before)?.parts ?? []), part?.plain)
  assert.equal(recent.after('p.1'), undefined)
})

test('HTTP: events added while others are compressed follow them', async () => {
  const recent = new RecentEvents('p')
  const large = 'x'.repeat(1_000_000)
  recent.add([status(large)])
  const taking = recent.takeAdded()
  recent.add([status('small')])
  assert.equal(recent.lastId(), 'p.0', 'who joins now gets the batch that is on its way')
  const texts = [await taking, await recent.takeAdded()].map((part) => part?.plain.toString('utf8') ?? '')
  assert.deepEqual(
    texts.map((text) => text.slice(0, 7)),
    ['id: p.1', 'id: p.2'],
  )
  assert.equal(plainOf(recent.after('p.0')?.parts ?? []).toString('utf8'), texts.join(''))
})
