import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { FakeClock } from '../testing/fake-clock.ts'
import { GRACE_MS, GracePeriod } from './grace-period.ts'

const never = (): Promise<string> => new Promise(() => {})

test('case 51: work that does not end is abandoned when the grace period is over, not before', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  const grace = new GracePeriod(stop.signal, clock)
  let outcome = 'waiting'
  void grace.race(never, () => 'abandoned').then((result) => (outcome = result))
  await clock.advance(10 * GRACE_MS)
  stop.abort()
  await clock.advance(GRACE_MS - 1)
  assert.equal(outcome, 'waiting')
  await clock.advance(1)
  assert.equal(outcome, 'abandoned')
})

test('I10: after the grace period no work is started', async () => {
  const clock = new FakeClock()
  const grace = new GracePeriod(AbortSignal.abort(), clock)
  await clock.advance(GRACE_MS)
  let started = false
  const start = async (): Promise<string> => {
    started = true
    return 'done'
  }
  assert.deepEqual(
    { result: await grace.race(start, () => 'abandoned at once'), started },
    { result: 'abandoned at once', started: false },
  )
})

test('K3: a closed grace period has no listener and no timer, and abandons nothing', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  const closedEarly = new GracePeriod(stop.signal, clock)
  assert.equal(getEventListeners(stop.signal, 'abort').length, 1)
  closedEarly.close()
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0)
  const interrupted = new GracePeriod(AbortSignal.abort(), clock)
  let abandoned = false
  void interrupted.race(never, () => {
    abandoned = true
    return 'abandoned'
  })
  interrupted.close()
  await clock.advance(GRACE_MS)
  assert.deepEqual({ abandoned, sleeping: clock.sleeping }, { abandoned: false, sleeping: 0 })
})
