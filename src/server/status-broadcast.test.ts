import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWakeSignal } from '../kernel/queue/wake-signal.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import type { LiveMessage } from './live-message.ts'
import { broadcastStatus } from './status-broadcast.ts'

test('viewers: a change is told within three seconds, also if the status was slow to read', async () => {
  const clock = new FakeClock()
  const wakeSignal = createWakeSignal()
  const closing = new AbortController()
  const sent: unknown[] = []
  let reads = 0
  const readStatus = async (): Promise<unknown> => {
    reads += 1
    if (reads === 1) await clock.sleep(2000)
    return { reads }
  }
  const send = (message: LiveMessage): void => void sent.push('data' in message && message.data)
  const live = { untilViewed: async () => {}, send }
  const ended = broadcastStatus({ clock, wakeSignal }, live, readStatus, closing.signal)
  await clock.advance(2000)
  assert.deepEqual(sent, [{ reads: 1 }])
  wakeSignal.ring()
  await clock.advance(3000)
  assert.deepEqual(sent, [{ reads: 1 }, { reads: 2 }])
  closing.abort()
  await ended
})
