import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../testing/fake-clock.ts'
import { EventStream } from './event-stream.ts'

const MINUTE = 60_000
/** So many at once are more than a person reads. */
const MANY = 50

function openStream() {
  const clock = new FakeClock()
  const failures: unknown[] = []
  const onFailed = (thrown: unknown): unknown => failures.push(thrown)
  const live = new EventStream({ clock, idPrefix: 'p', token: () => 'token', onFailed })
  return {
    ...{ clock, live, failures },
    async send(data: string): Promise<void> {
      live.send({ name: 'status', data })
      await clock.advance(100)
    },
    /** Contract: what the viewer got at once, what it gets later, and how it leaves. */
    join(last?: string) {
      const sent: string[] = []
      const receivers: (() => void)[] = []
      const leave = live.join(
        {
          send({ plain }) {
            sent.push(plain.toString('utf8'))
            for (const resolve of receivers.splice(0)) resolve()
          },
          unsentBytes: () => 0,
          drop: () => {},
          isAuthorized: () => true,
        },
        last,
      )
      const received = (): Promise<void> => new Promise((resolve) => receivers.push(resolve))
      return { greeting: sent.join(''), sent, received, leave }
    },
  }
}

test('HTTP: events are kept for five minutes after the last viewer left; then viewers start anew', async () => {
  const { clock, live, send, join } = openStream()
  await send('before any viewer')
  const first = join()
  assert.match(first.greeting, /^retry: 1000\nid: p\.0\nevent: hello\n/, 'nothing is kept before the first viewer')
  first.leave()
  await send('one')
  await clock.advance(3 * MINUTE)
  const second = join('p.0')
  assert.match(second.greeting, /event: hello\n.*\n\nid: p\.1\nevent: status\ndata: "one"\n\n$/)
  second.leave()
  await clock.advance(3 * MINUTE)
  await send('two')
  const third = join('p.1')
  assert.match(third.greeting, /data: "two"/, 'the time counts from the last leave')
  third.leave()
  await clock.advance(6 * MINUTE)
  assert.equal(live.hadViewers(), false)
  await send('nobody sees it')
  const late = join('p.2')
  assert.match(late.greeting, /event: hello\n.*\n\nid: p\.3\nevent: reset\n/)
  assert.doesNotMatch(late.greeting, /nobody/)
  live.close()
})

const texts = (sent: readonly string[]): readonly string[] =>
  [...sent.join('').matchAll(/^data: "(.*)"$/gm)].map(([, text]) => text ?? '')

test('HTTP: with many events, progress comes after them, and not at all if it is overtaken', async () => {
  const { clock, live, join } = openStream()
  const { sent } = join()
  const tell = (data: string): void => live.send({ name: 'status', data })
  const tellLater = (run_id: string, data: string): void =>
    live.sendLater(run_id, () => {
      assert.ok(!data.startsWith('old'), 'it is not even made')
      return { name: 'status', data }
    })
  for (let i = 0; i < MANY; i++) tell('x')
  await clock.advance(100)
  sent.length = 0
  tellLater('a', 'old of a')
  tellLater('b', 'of b')
  tell('1')
  live.overtake('a')
  tellLater('a', 'new of a')
  tell('2')
  await clock.advance(300)
  assert.deepEqual(texts(sent), ['1', '2', 'of b', 'new of a'])
  sent.length = 0
  tellLater('a', 'few')
  tell('3')
  live.overtake('a')
  await clock.advance(100)
  assert.deepEqual(texts(sent), ['few', '3'], 'with few events, nothing is left out')
  live.close()
})

test('HTTP: the more events come, the longer the next ones are collected', async () => {
  const { clock, live, join } = openStream()
  const { sent, received } = join()
  /** Contract: the events are sent after exactly so long, all of them in order. */
  async function assertSentAfter(ms: number, count: number): Promise<void> {
    sent.length = 0
    const batch = received()
    const lines = Array.from({ length: count }, (_, n) => `{"n":${n}}`)
    for (let i = 0; i < count; i += 3) live.send({ name: 'event', lines: lines.slice(i, i + 3) })
    live.send({ name: 'status', data: 'last' })
    await clock.advance(ms - 1)
    assert.deepEqual(sent, [], `not before ${ms} ms`)
    await clock.advance(1)
    await batch
    const data = [...sent.join('').matchAll(/^data: (.*)$/gm)].map(([, json]) => json)
    assert.deepEqual(data, [...lines, '"last"'])
  }
  await assertSentAfter(30, 1)
  await assertSentAfter(30, 100)
  await assertSentAfter(250, 1)
  await assertSentAfter(30, 3000)
  await assertSentAfter(500, 3000)
  await assertSentAfter(500, 60)
  await assertSentAfter(250, 1)
  live.close()
})

test('HTTP: much progress of one step does not wait: it comes in order, and is not overtaken', async () => {
  const { clock, live, join } = openStream()
  const { sent } = join()
  for (let i = 0; i < MANY; i++) live.send({ name: 'status', data: 'x' })
  await clock.advance(100)
  sent.length = 0
  const numbers = Array.from({ length: 3 * MANY + 10 }, (_, i) => String(i))
  for (const data of numbers) live.sendLater('a', () => ({ name: 'status', data }))
  live.overtake('a')
  await clock.advance(300)
  assert.deepEqual(texts(sent), numbers.slice(0, 3 * MANY))
  live.close()
})

test('HTTP: if a batch cannot be made, viewers fetch everything anew, and later events arrive', async () => {
  const { clock, live, failures, join } = openStream()
  const { sent } = join()
  for (let i = 0; i < MANY; i++) live.send({ name: 'status', data: 'x' })
  await clock.advance(100)
  sent.length = 0
  live.sendLater('a', () => {
    throw new Error('not to be made')
  })
  await clock.advance(300)
  assert.match(String(failures), /not to be made/)
  assert.match(sent.join(''), /event: reset\ndata: .*fetch everything anew/)
  live.send({ name: 'status', data: 'later' })
  await clock.advance(300)
  assert.deepEqual(texts(sent), ['later'])
  live.close()
})

test('HTTP: what comes while a large batch is compressed follows it, also for those who join meanwhile', async () => {
  const { clock, live, join } = openStream()
  const first = join()
  live.send({ name: 'status', data: 'x'.repeat(1_000_000) })
  const large = first.received()
  await clock.advance(30)
  const second = join()
  live.send({ name: 'status', data: 'small' })
  await large
  const small = first.received()
  await clock.advance(30)
  await small
  const numbers = ({ sent }: { readonly sent: readonly string[] }): readonly unknown[] =>
    [...sent.join('').matchAll(/^id: p\.(\d+)\nevent: status$/gm)].map(([, number]) => number)
  assert.deepEqual(numbers(first), ['1', '2'])
  // Nearly always it joins before the first one is compressed.
  const [, at] = /^id: p\.(\d)\nevent: hello$/m.exec(second.greeting) ?? []
  assert.deepEqual(numbers(second), ['1', '2'].slice(Number(at)))
  live.close()
})
