import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../testing/fake-clock.ts'
import { EventStream } from './event-stream.ts'

const MINUTE = 60_000

function openStream() {
  const clock = new FakeClock()
  const live = new EventStream({ clock, idPrefix: 'p', token: () => 'token' })
  return {
    ...{ clock, live },
    async send(data: string): Promise<void> {
      live.send({ name: 'status', data })
      await clock.advance(100)
    },
    /** Contract: what the viewer got at once, and how it leaves. */
    join(last?: string) {
      const sent: string[] = []
      const leave = live.join(
        {
          send: ({ plain }) => sent.push(plain.toString('utf8')),
          unsentBytes: () => 0,
          drop: () => {},
          isAuthorized: () => true,
        },
        last,
      )
      return { greeting: sent.join(''), leave }
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
