import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from './fake-clock.ts'

test('sleepers wake in order at their times; a new sleep during an advance is served in the same advance', async () => {
  const clock = new FakeClock({ now: 1000 })
  const woke: [string, number, number][] = []
  const note = (name: string) => woke.push([name, clock.now(), clock.monotonic()])
  void clock.sleep(30).then(() => note('late'))
  void clock.sleep(10).then(async () => {
    note('early')
    await clock.sleep(5)
    note('early again')
  })
  void clock.sleep(10).then(() => note('tie'))
  await clock.advance(29)
  assert.deepEqual(woke, [
    ['early', 1010, 10],
    ['tie', 1010, 10],
    ['early again', 1015, 15],
  ])
  assert.equal(clock.nextIn, 1)
  await clock.advance(1)
  assert.deepEqual(woke.at(-1), ['late', 1030, 30])
  assert.equal(clock.sleeping, 0)
  assert.equal(clock.nextIn, undefined)
})

test('a jump of the wall clock affects neither monotonic time nor sleepers', async () => {
  const clock = new FakeClock({ now: 0 })
  let woke = false
  void clock.sleep(100).then(() => {
    woke = true
  })
  clock.setWall(1e12)
  await clock.advance(99)
  assert.equal(woke, false)
  assert.equal(clock.monotonic(), 99)
  assert.equal(clock.now(), 1e12 + 99)
  clock.setWall(-5)
  await clock.advance(1)
  assert.equal(woke, true)
  assert.equal(clock.now(), -4)
})

test('an abort resolves the sleep at once', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  const sleep = clock.sleep(2 ** 40, stop.signal)
  stop.abort(new Error('any reason'))
  await sleep
  assert.equal(clock.sleeping, 0)
  await clock.sleep(1e9, AbortSignal.abort())
  await clock.sleep(0)
})
