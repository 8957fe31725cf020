import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { FakeClock } from '../testing/fake-clock.ts'
import { startTimer, withDeadline } from './deadline.ts'

const never = (): Promise<never> => new Promise(() => {})

test('a timer fires once its time is over, and not if it was stopped', async () => {
  const clock = new FakeClock()
  const fired: string[] = []
  startTimer(clock, 10, () => fired.push('kept'))
  const stopTimer = startTimer(clock, 10, () => fired.push('stopped'))
  await clock.advance(9)
  stopTimer()
  assert.deepEqual(fired, [])
  await clock.advance(1)
  assert.deepEqual(fired, ['kept'])
  assert.equal(clock.sleeping, 0)
})

test('an infinite time limit starts no timer', () => {
  const clock = new FakeClock()
  startTimer(clock, Number.POSITIVE_INFINITY, () => {})
  assert.equal(clock.sleeping, 0)
})

test('work that ends in time gives its result; then its signal aborts and no timer is left', async () => {
  const clock = new FakeClock()
  let signal: AbortSignal | undefined
  const result = await withDeadline({ clock, ms: 10 }, async (over) => {
    signal = over
    return over.aborted
  })
  assert.equal(result, false)
  assert.equal(signal?.aborted, true)
  assert.equal(clock.sleeping, 0)
})

test('work that takes too long is abandoned: its signal aborts, its later error is ignored', async () => {
  const clock = new FakeClock()
  const late = withDeadline(
    { clock, ms: 10 },
    (over) => new Promise<string>((_, reject) => over.addEventListener('abort', () => reject(new Error('cancelled')))),
    () => 'too late',
  )
  await clock.advance(10)
  assert.equal(await late, 'too late')
})

test('errors of the work and of onTimeout reach the caller', async () => {
  const clock = new FakeClock()
  const fails = (): never => {
    throw new Error('failed at once')
  }
  await assert.rejects(withDeadline({ clock, ms: 10 }, fails), /failed at once/)
  const late = withDeadline({ clock, ms: 10 }, never, () => {
    throw new Error('too late')
  })
  const rejects = assert.rejects(late, /too late/)
  await clock.advance(10)
  await rejects
  assert.equal(clock.sleeping, 0)
})

test('a stop ends the work like the time limit, also before it started; no listener is left', async () => {
  const clock = new FakeClock()
  const controller = new AbortController()
  const limit = { clock, ms: 10, stop: controller.signal }
  const stopped = withDeadline(limit, never, () => controller.signal.reason)
  controller.abort('stopping')
  assert.equal(await stopped, 'stopping')
  assert.equal(await withDeadline(limit, never, () => 'stopped before'), 'stopped before')
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  assert.equal(clock.sleeping, 0)
})
