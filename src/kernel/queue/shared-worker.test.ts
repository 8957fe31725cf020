import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { freshFolder, waitUntil } from '../../../test/support/open-app.ts'
import { openSqliteStore } from '../../adapters/stores/sqlite/store.ts'
import { TirelessError } from '../../domain/error.ts'
import { commitOne, type Store } from '../../ports/store.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { newTestDispatch, readStatus } from '../../testing/store-test-helpers.ts'
import { fenceLeader, Leadership } from './leadership.ts'
import { SharedWorker } from './shared-worker.ts'
import { createWakeSignal } from './wake-signal.ts'

const LEASE_MS = 30_000

/** Until `open`, commits wait at a gate. */
class Gate {
  #closed: PromiseWithResolvers<void> | undefined
  close(): void {
    this.#closed ??= Promise.withResolvers()
  }
  open(): void {
    this.#closed?.resolve()
    this.#closed = undefined
  }
  async pass(): Promise<void> {
    while (this.#closed) await this.#closed.promise
  }
}

/** A process on the store, with a clock of its own: while that stands still, the process is stopped. */
async function openProcess(database: Database, name: string) {
  const clock = new FakeClock()
  const leadership = new Leadership('kernel')
  const wakeSignal = createWakeSignal()
  const logged: string[] = []
  const [before, after] = [new Gate(), new Gate()]
  const counts = { stops: 0 }
  const store: Store = {
    ...database.store,
    async commit(batches) {
      await before.pass()
      if (database.isBroken) throw new TirelessError('store_failed', 'away')
      const outcomes = await database.store.commit(batches)
      await after.pass()
      return outcomes
    },
  }
  const deps = {
    ...{ store, clock, wakeSignal, leadership, leaseMs: LEASE_MS, name },
    about: { role: 'all' as const, host: 'here', home: name, root: '/nowhere' },
    async stopRuns() {
      counts.stops += 1
    },
    allowCommands() {},
    onDead: async () => {},
    log: (_: string, event: string, details: Readonly<Record<string, string | number>>) =>
      logged.push(`${event} ${details.message ?? details.why ?? ''}`),
  }
  const worker = new SharedWorker(deps)
  await worker.join()
  database.leaving.push(async () => {
    for (const gate of [before, after]) gate.open()
    await worker.leave()
  })
  const stops = (): number => counts.stops
  return { clock, leadership, worker, logged, wakeSignal, before, after, stops, fenced: fenceLeader(store, leadership) }
}

interface Database {
  readonly store: Store
  readonly leaving: (() => Promise<void>)[]
  isBroken: boolean
}

async function openStore(t: TestContext): Promise<Database> {
  const store = await openSqliteStore({ file: join(freshFolder(t), 'db'), clock: new FakeClock(), writes: 'here' })
  const database: Database = { store, leaving: [], isBroken: false }
  t.after(async () => {
    database.isBroken = false
    for (const leave of database.leaving) await leave()
    await store.close()
  })
  return database
}

const writeAsLeader = (store: Store) => commitOne(store, [{ op: 'schedule_fired', id: 'schedule', instant: 1 }])

test('E15: a process that cannot renew its lease stops its runs and the lead before the lease ends', async (t) => {
  const one = await openProcess(await openStore(t), 'one')
  await one.worker.tryToLead()
  assert.equal(one.leadership.isLeading, true)
  one.before.close()
  await one.clock.advance(LEASE_MS * 0.69)
  assert.deepEqual([one.stops(), one.leadership.isLeading], [0, true])
  await one.clock.advance(LEASE_MS * 0.02)
  assert.deepEqual([one.stops() > 0, one.leadership.isLeading, one.worker.epoch], [true, false, undefined])
  one.before.open()
})

test('E15: a jump of the wall clock neither ends nor prolongs the lease of a process', async (t) => {
  const one = await openProcess(await openStore(t), 'one')
  one.clock.setWall(one.clock.now() + 10 * LEASE_MS)
  await one.clock.advance(1)
  assert.equal(one.stops(), 0)
  one.before.close()
  one.clock.setWall(one.clock.now() - 20 * LEASE_MS)
  await one.clock.advance(LEASE_MS * 0.71)
  assert.equal(one.worker.epoch, undefined)
})

test('E15: an answer that comes after the lease was given up gives neither the lease nor the lead back', async (t) => {
  const one = await openProcess(await openStore(t), 'one')
  await one.worker.tryToLead()
  one.after.close()
  await one.clock.advance(LEASE_MS * 0.71)
  assert.equal(one.worker.epoch, undefined)
  one.before.close()
  one.after.open()
  await one.clock.advance(1)
  assert.deepEqual([one.worker.epoch, one.leadership.isLeading], [undefined, false])
})

test('E15: a process joins again with a new epoch, and gives its runs of before back at once', async (t) => {
  const database = await openStore(t)
  const one = await openProcess(database, 'one')
  const { epoch } = one.worker
  assert.ok(epoch)
  await commitOne(database.store, [{ op: 'enqueue', dispatches: [newTestDispatch('a')], now: 1 }])
  await commitOne(database.store, [{ op: 'claim', epoch, limit: 1, now: 1 }])
  one.before.close()
  await one.clock.advance(LEASE_MS * 0.71)
  const [rings, stops] = [one.wakeSignal.ringCount(), one.stops()]
  one.before.open()
  await waitUntil(() => one.worker.epoch !== undefined)
  assert.notEqual(one.worker.epoch, epoch)
  assert.equal(await readStatus(database.store, 'a'), 'pending')
  assert.ok(one.stops() > stops, 'runs that were claimed meanwhile are stopped before it joins')
  await waitUntil(() => one.wakeSignal.ringCount() > rings)
})

test('E15: after a failure of the store, a process gives its runs back although it kept its lease', async (t) => {
  const database = await openStore(t)
  const one = await openProcess(database, 'one')
  const { epoch } = one.worker
  assert.ok(epoch)
  await commitOne(database.store, [{ op: 'enqueue', dispatches: [newTestDispatch('a')], now: 1 }])
  await commitOne(database.store, [{ op: 'claim', epoch, limit: 1, now: 1 }])
  await one.worker.startOver()
  await waitUntil(() => one.worker.epoch !== undefined)
  assert.notEqual(one.worker.epoch, epoch)
  assert.equal(await readStatus(database.store, 'a'), 'pending')
})

test('E15: a stopped process loses its lease to another; what it writes when it wakes up is refused', async (t) => {
  const database = await openStore(t)
  const [one, two] = [await openProcess(database, 'one'), await openProcess(database, 'two')]
  await one.worker.tryToLead()
  await two.worker.tryToLead()
  await writeAsLeader(one.fenced)
  await assert.rejects(writeAsLeader(two.fenced), { code: 'store_fenced' })
  for (let i = 0; i < 5; i += 1) await two.clock.advance(LEASE_MS / 3)
  await waitUntil(() => two.leadership.isLeading)
  assert.equal(one.leadership.isLeading, true, 'it does not know yet')
  await assert.rejects(writeAsLeader(one.fenced), {
    code: 'store_fenced',
    message: /does not lead kernel with token 1/,
  })
  await writeAsLeader(two.fenced)
  await one.clock.advance(LEASE_MS / 3)
  await waitUntil(() => one.stops() > 0)
  assert.equal(one.leadership.isLeading, false)
  assert.ok(one.logged.some((line) => /lease lost.*another process has ended it/.test(line)))
})

test('E15: a process that wants to lead, and has lost its lease, joins again before and leads', async (t) => {
  const database = await openStore(t)
  const one = await openProcess(database, 'one')
  one.before.close()
  await one.clock.advance(LEASE_MS * 0.71)
  assert.equal(one.worker.epoch, undefined)
  const trying = one.worker.tryToLead()
  one.before.open()
  await trying
  assert.equal(one.leadership.isLeading, true)
  // Its lease is ended by another one: it does not know yet.
  const [ended] = [one.worker.epoch, await one.worker.resign()]
  assert.ok(ended)
  await commitOne(database.store, [{ op: 'leave', epoch: ended, now: 1 }])
  await one.worker.tryToLead()
  assert.deepEqual([one.leadership.isLeading, one.worker.epoch !== ended], [true, true])
})

test('E15: a process that cannot join again in the time of a lease does not lead, and says so then', async (t) => {
  const database = await openStore(t)
  const one = await openProcess(database, 'one')
  database.isBroken = true
  await one.clock.advance(LEASE_MS * 0.71)
  const trying = one.worker.tryToLead()
  await one.clock.advance(LEASE_MS)
  await trying
  assert.equal(one.leadership.isLeading, false)
})

test('E15: a store that fails does not end the renewals', async (t) => {
  const database = await openStore(t)
  const one = await openProcess(database, 'one')
  database.isBroken = true
  await one.clock.advance(LEASE_MS)
  assert.ok(one.logged.some((line) => /lease not renewed away/.test(line)))
  database.isBroken = false
  await one.clock.advance(LEASE_MS)
  await waitUntil(() => one.worker.epoch !== undefined)
})

test('E15: a process that leaves makes room for the next leader, and its term is over', async (t) => {
  const database = await openStore(t)
  const [one, two] = [await openProcess(database, 'one'), await openProcess(database, 'two')]
  await one.worker.tryToLead()
  await two.worker.tryToLead()
  await one.worker.leave()
  assert.equal(one.leadership.isLeading, false)
  await two.clock.advance(LEASE_MS / 3)
  await waitUntil(() => two.leadership.isLeading)
})

test('E15: a process that is told to stop gives the lead up, does not take it back, and keeps its lease', async (t) => {
  const database = await openStore(t)
  const [one, two] = [await openProcess(database, 'one'), await openProcess(database, 'two')]
  await one.worker.tryToLead()
  await two.worker.tryToLead()
  await one.worker.resign()
  assert.deepEqual([one.leadership.isLeading, one.stops()], [false, 0])
  await one.clock.advance(LEASE_MS / 3)
  assert.equal(one.leadership.isLeading, false)
  await two.clock.advance(LEASE_MS / 3)
  await waitUntil(() => two.leadership.isLeading)
  assert.notEqual(one.worker.epoch, undefined)
})

test('E15: an answer that comes after the lead was given up does not give it back', async (t) => {
  const one = await openProcess(await openStore(t), 'one')
  await one.worker.tryToLead()
  one.after.close()
  await one.clock.advance(LEASE_MS / 3)
  const resigned = one.worker.resign()
  one.after.open()
  await resigned
  await one.clock.advance(1)
  assert.equal(one.leadership.isLeading, false)
})

test('E15: a process leaves without a word if the store is away', async (t) => {
  const database = await openStore(t)
  const one = await openProcess(database, 'one')
  await one.worker.tryToLead()
  database.isBroken = true
  await one.worker.resign()
  await one.worker.leave()
  assert.ok(one.logged.some((line) => /worker has not left away/.test(line)))
})
