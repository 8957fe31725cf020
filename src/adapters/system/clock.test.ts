import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from './clock.ts'

test('a sleep beyond 24.8 days does not fire early, does not spin, and an abort ends it', async () => {
  const warnings: string[] = []
  const note = (warning: Error) => warnings.push(warning.name)
  process.on('warning', note)
  const stop = new AbortController()
  const long = systemClock.sleep(2 ** 31 + 1000, stop.signal)
  const first = await Promise.race([long.then(() => 'long'), systemClock.sleep(30).then(() => 'short')])
  assert.equal(first, 'short')
  stop.abort()
  await long
  process.off('warning', note)
  // Node prints a warning for a timer that is too long, and fires it after 1 ms.
  assert.deepEqual(warnings, [])
})

test('a sleep with an aborted signal, of zero or of negative length resolves at once', async () => {
  await systemClock.sleep(1e9, AbortSignal.abort())
  await systemClock.sleep(0)
  await systemClock.sleep(-5)
})

test('a sleep lasts at least its length of monotonic time', async () => {
  const before = systemClock.monotonic()
  await systemClock.sleep(5)
  assert.ok(systemClock.monotonic() - before >= 5)
})

test('now is wall time and monotonic never goes back', () => {
  assert.ok(systemClock.now() > Date.UTC(2024, 0))
  const before = systemClock.monotonic()
  assert.ok(systemClock.monotonic() >= before)
})
