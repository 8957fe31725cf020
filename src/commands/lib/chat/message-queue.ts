/**
 * Messages wait here for their turn: in the order of their arrival within a queue, one at a time. A queue is bounded;
 * a message that does not fit is not taken, and its channel sends it again later.
 */

import { TirelessError } from '../../../domain/error.ts'
import type { Store } from '../../../ports/store.ts'

interface Queue {
  last: Promise<unknown>
  waiting: number
}

const RETRY_AFTER_MS = 2000
const queuesOf = new WeakMap<Store, Map<string, Queue>>()

/** Contract: settles as `work` does, which starts when all earlier work of the queue has ended. */
export function inTurn<T>(store: Store, name: string, most: number, work: () => Promise<T>): Promise<T> {
  const queues = queuesOf.get(store) ?? new Map<string, Queue>()
  queuesOf.set(store, queues)
  const queue = queues.get(name) ?? { last: Promise.resolve(), waiting: 0 }
  queues.set(name, queue)
  if (queue.waiting >= most)
    return Promise.reject(
      new TirelessError('channel_limited', 'too many messages wait; send this one again later', {
        retryAfterMs: RETRY_AFTER_MS,
      }),
    )
  queue.waiting += 1
  const current = queue.last.then(work).finally(() => {
    queue.waiting -= 1
    if (queue.waiting === 0) queues.delete(name)
  })
  queue.last = current.catch(() => {})
  return current
}
