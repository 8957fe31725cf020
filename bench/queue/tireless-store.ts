/**
 * The store alone, as a queue: claims dispatches in batches and settles them, each under its fence. Two loops take
 * turns, so that one settles while the other claims, in the same commit.
 */

import { randomUUID } from 'node:crypto'
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import type { Dispatch } from '../../src/domain/dispatch.ts'
import { type Batch, commitOne, type Store } from '../../src/ports/store.ts'
import { News } from './news.ts'
import { serveQueue, type WorkMeter } from './serve-queue.ts'
import { LOOPS, TIRELESS_BATCH } from './settings.ts'
import { fillStore, sendToStore, sentAtOf } from './store-jobs.ts'

const LEASE_MS = 3_600_000

await serveQueue(async ({ url, folder }) => {
  const store = await openPostgresStore({ url, clock: systemClock, writerId: randomUUID() })
  return {
    fill: (jobs) => fillStore(store, folder, jobs),
    send: (sentAt) => sendToStore(store, folder, sentAt),
    count: async () => (await store.counts()).pending,
    close: () => store.close(),
    work: (meter) => work(store, meter),
  }
})

async function work(store: Store, meter: WorkMeter): Promise<() => Promise<void>> {
  const now = systemClock.now()
  const [{ epoch }] = await commitOne(store, [
    { op: 'join', name: 'bench', now, lease_until: now + LEASE_MS, alone: false },
  ])
  const stopping = new AbortController()
  const news = new News()
  const unsubscribe = store.onChange?.(news.tell)
  stopping.signal.addEventListener('abort', news.tell)
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const changed = news.next
      const [claimed] = await commitOne(store, [{ op: 'claim', epoch, limit: TIRELESS_BATCH, now: systemClock.now() }])
      for (const dispatch of claimed) meter.started(sentAtOf(dispatch))
      if (claimed.length > 0) await settle(store, claimed)
      else if (!stopping.signal.aborted) await changed
      meter.done(claimed.length)
    }
  }
  const loops = Promise.all(Array.from({ length: LOOPS }, loop))
  return async () => {
    stopping.abort()
    await loops
    unsubscribe?.()
  }
}

async function settle(store: Store, claimed: readonly Dispatch[]): Promise<void> {
  const now = systemClock.now()
  const ending = { op: 'settle', status: 'done', result: 'ok', error: null, failure_class: null, now } as const
  const batches = claimed.map(
    ({ dispatch_id, token }): Batch => ({
      fence: { dispatch_id, token },
      ops: [{ ...ending, successor_id: `${dispatch_id}-next` }],
    }),
  )
  const refused = (await store.commit(batches)).find(({ ok }) => !ok)
  if (refused) throw new Error(`a dispatch could not be settled: ${JSON.stringify(refused)}`)
}
