/**
 * A worker of the failover drill that uses the store as a kernel does: it enqueues and claims dispatches, appends to
 * their journals and settles them, and takes over those of workers that were killed. It prints what was acknowledged:
 * `enqueued ID`, `appended ID SEQ`, `settled ID`.
 *
 *   node store-worker.ts URL NAME
 */

import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { TirelessError } from '../../src/domain/error.ts'
import { commitOne, type Fence, type Store } from '../../src/ports/store.ts'
import { newTestDispatch, newTestRecord, settleOp } from '../../src/testing/store-test-helpers.ts'
import { RECORDS_PER_DISPATCH } from './store-workload.ts'

const [url = '', name = ''] = process.argv.slice(2)
const LEASE_MS = 3000
const PAUSE_MS = 5

// Ends with the drill, also when that is killed.
process.stdin.resume().once('end', () => process.exit())

const store = await openStore()
const say = (...words: readonly (string | number)[]) => writeSync(1, `${words.join(' ')}\n`)
const leaseAt = (now: number) => ({ now, lease_until: now + LEASE_MS })

let epoch = await join()
let lookedAt = 0
for (let n = 1; ; n++) {
  try {
    await keepLease()
    await enqueue(`${name}-${n}`)
    const [claimed] = await commitOne(store, [{ op: 'claim', epoch, limit: 2, now: systemClock.now() }])
    await Promise.all(claimed.map(({ dispatch_id, token }) => work({ dispatch_id, token })))
  } catch (error) {
    // The lease ended while the database was away; another worker has the dispatches now.
    if (!isFenced(error)) throw error
    epoch = await join()
  }
  await systemClock.sleep(PAUSE_MS)
}

async function join(): Promise<number> {
  const [joined] = await commitOne(store, [{ op: 'join', name, alone: false, ...leaseAt(systemClock.now()) }])
  return joined.epoch
}

async function keepLease(): Promise<void> {
  const now = systemClock.now()
  if (now < lookedAt + LEASE_MS / 3) return
  lookedAt = now
  const [{ alive }] = await commitOne(store, [
    { op: 'beat', epoch, ...leaseAt(now) },
    { op: 'recover', now },
  ])
  if (!alive) epoch = await join()
}

async function enqueue(id: string): Promise<void> {
  await commitOne(store, [{ op: 'enqueue', dispatches: [newTestDispatch(id, { key: id })], now: systemClock.now() }])
  say('enqueued', id)
}

async function work(fence: Fence): Promise<void> {
  const { dispatch_id: id } = fence
  const session_id = `session-${id}`
  const before = (await store.journal(session_id)).length
  for (let seq = before + 1; seq <= RECORDS_PER_DISPATCH; seq++) {
    await commitOne(store, [{ op: 'append', session_id, records: [newTestRecord(seq)] }], fence)
    say('appended', id, seq)
  }
  await commitOne(store, [settleOp('done', `after-${id}`)], fence)
  say('settled', id)
}

function isFenced(error: unknown): boolean {
  return error instanceof TirelessError && error.code === 'store_fenced'
}

/** A store is not opened while the database is away. */
async function openStore(): Promise<Store> {
  for (;;)
    try {
      return await openPostgresStore({ url, clock: systemClock, writerId: randomUUID() })
    } catch (error) {
      if (!(error instanceof TirelessError) || error.code !== 'store_failed') throw error
      await systemClock.sleep(PAUSE_MS * 20)
    }
}
