import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { FakeClock } from '../testing/fake-clock.ts'
import { GRACE_MS, Leaving } from './leaving.ts'

const never = (): Promise<string> => new Promise(() => {})

test('case 51: what does not end is left behind, a moment after the interruption and not before', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  const leaving = new Leaving(stop.signal, clock)
  let outcome = 'waiting'
  void leaving.or(never, () => 'left').then((found) => (outcome = found))
  await clock.advance(10 * GRACE_MS)
  stop.abort()
  await clock.advance(GRACE_MS - 1)
  assert.equal(outcome, 'waiting')
  await clock.advance(1)
  assert.equal(outcome, 'left')
})

test('I10: what nobody would wait for any more is not begun', async () => {
  const clock = new FakeClock()
  const leaving = new Leaving(AbortSignal.abort(), clock)
  await clock.advance(GRACE_MS)
  let begun = false
  const begin = async (): Promise<string> => {
    begun = true
    return 'done'
  }
  assert.deepEqual([await leaving.or(begin, () => 'left at once'), begun], ['left at once', false])
})

test('K3: one that is closed listens to nobody, sleeps no more and leaves nothing behind', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  const quiet = new Leaving(stop.signal, clock)
  assert.equal(getEventListeners(stop.signal, 'abort').length, 1)
  quiet.close()
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0)
  const interrupted = new Leaving(AbortSignal.abort(), clock)
  let left = false
  void interrupted.or(never, () => {
    left = true
    return 'left'
  })
  interrupted.close()
  await clock.advance(GRACE_MS)
  assert.deepEqual([left, clock.sleeping], [false, 0])
})
