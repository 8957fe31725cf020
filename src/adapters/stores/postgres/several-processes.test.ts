import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, type TestContext, test } from 'node:test'
import { openPostgres, WITHOUT_POSTGRES } from '../../../../test/support/postgres.ts'
import { type Batch, commitOne, type Op, type Store } from '../../../ports/store.ts'
import {
  claimInStore,
  enqueueInStore,
  joinTestWorker,
  newTestDispatch,
  newTestMessage,
  newTestRecord,
  TEST_LEASE_MS,
  TEST_NOW,
  WAIT_FOR_MESSAGE,
} from '../../../testing/store-test-helpers.ts'
import { systemClock } from '../../system/clock.ts'
import { openPostgresStore } from './store.ts'

const NUMBERS = Array.from({ length: 20 }, (_, i) => i)

describe('two stores on one database', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })

  /** As two processes have them. */
  async function openTwo(t: TestContext, leases: 'given' | 'database' = 'given'): Promise<readonly [Store, Store]> {
    const url = await server.newDatabase()
    const open = async (): Promise<Store> => {
      const store = await openPostgresStore({ url, clock: systemClock, writerId: randomUUID(), leases, pollMs: 50 })
      t.after(() => store.close())
      return store
    }
    return [await open(), await open()]
  }

  test('E15: both create the tables at once, and neither fails', async (t) => {
    const url = await server.newDatabase()
    const open = () => openPostgresStore({ url, clock: systemClock, writerId: randomUUID() })
    const stores = await Promise.all([open(), open(), open()])
    for (const store of stores) t.after(() => store.close())
    assert.deepEqual(await Promise.all(stores.map((store) => store.verify())), [[], [], []])
  })

  test('E15: racing claims give each dispatch to one of them, and one per workspace', async (t) => {
    const [a, b] = await openTwo(t)
    const folder = (i: number) => `/work/${i % 5}`
    await enqueueInStore(a, ...NUMBERS.map((i) => newTestDispatch(`d${i}`, { workspace: folder(i) })))
    const work = async (store: Store): Promise<string[]> => {
      const epoch = await joinTestWorker(store, false)
      const claimed: string[] = []
      while ((await store.counts()).pending > 0)
        for (const fence of await claimInStore(store, epoch, 3)) {
          claimed.push(fence.dispatch_id)
          const running = await store.dispatches({ status: 'running', limit: 100 })
          const folders = running.map(({ dispatch_id }) => folder(Number(dispatch_id.slice(1))))
          assert.equal(new Set(folders).size, folders.length, 'one run per workspace')
          await commitOne(store, [{ op: 'settle', ...DONE, successor_id: `s${fence.dispatch_id}` }], fence)
        }
      return claimed
    }
    const claimed = (await Promise.all([work(a), work(b)])).flat()
    assert.deepEqual(claimed.toSorted(), NUMBERS.map((i) => `d${i}`).toSorted())
  })

  test('case 74: two claims at the same moment start one run in a workspace', async (t) => {
    const stores = await openTwo(t)
    const epochs = await Promise.all(stores.map((store) => joinTestWorker(store, false)))
    for (const i of NUMBERS) {
      const shared = { workspace: `/work/${i}` }
      await enqueueInStore(stores[0], newTestDispatch(`a${i}`, shared), newTestDispatch(`b${i}`, shared))
      const claimed = await Promise.all(stores.map((store, at) => claimInStore(store, epochs[at] ?? 0)))
      assert.ok(claimed.flat().length <= 1, `round ${i}`)
      const [left] = await stores[0].dispatches({ status: 'pending', limit: 1 })
      for (const { dispatch_id } of [{ dispatch_id: `a${i}` }, { dispatch_id: `b${i}` }])
        await commitOne(stores[0], [{ op: 'pause', dispatch_id, paused: true, now: TEST_NOW }])
      assert.ok(left)
    }
  })

  test('E15: a worker whose lease ended by the clock of the database can neither write nor claim', async (t) => {
    const [a, b] = await openTwo(t, 'database')
    // The given instants are far from the database's clock; only the length of the lease counts.
    const join = (store: Store, ms: number) =>
      commitOne(store, [{ op: 'join', name: 'w', now: TEST_NOW, lease_until: TEST_NOW + ms, alone: false }])
    const [[stale], [fresh]] = [await join(a, 1), await join(b, 60_000)]
    await enqueueInStore(a, newTestDispatch('d'))
    const [fence] = await claimInStore(a, stale.epoch)
    assert.ok(fence)
    await systemClock.sleep(10)
    assert.deepEqual(
      (await b.workers(0)).map(({ epoch }) => epoch),
      [fresh.epoch],
    )
    const [recovery] = await commitOne(b, [{ op: 'recover', now: 0 }])
    assert.deepEqual(recovery, { lost: 1, recovered: ['d'], dead: [] })
    const [taken] = await claimInStore(b, fresh.epoch)
    assert.equal(taken?.token, fence.token + 1)
    const append: Op = { op: 'append', session_id: 'session-d', records: [newTestRecord(1)] }
    await assert.rejects(commitOne(a, [append], fence), { code: 'store_fenced' })
    await assert.rejects(claimInStore(a, stale.epoch), { code: 'store_fenced' })
    await commitOne(b, [append], taken)
  })

  test('E15: the same key and the same beat count once', async (t) => {
    const stores = await openTwo(t)
    const enqueue = (store: Store, i: number) =>
      commitOne(store, [
        { op: 'enqueue', now: TEST_NOW, dispatches: [newTestDispatch(`d${i}-${randomUUID()}`, { key: `k${i}` })] },
        { op: 'schedule_fired', id: 's', instant: i + 1 },
      ])
    const results = (
      await Promise.all(NUMBERS.map((i) => Promise.all(stores.map((store) => enqueue(store, i)))))
    ).flat()
    assert.equal(results.filter(([[dispatch]]) => !dispatch?.duplicate).length, NUMBERS.length)
    assert.equal((await stores[0].counts()).pending, NUMBERS.length)
    assert.ok(results.filter(([, { first }]) => first).length <= NUMBERS.length)
  })

  test('E15: of two that ask to lead at the same moment, one leads, also after a leader has died', async (t) => {
    const stores = await openTwo(t)
    let now = TEST_NOW
    for (const round of NUMBERS) {
      now += 10 * TEST_LEASE_MS
      const epochs = await Promise.all(stores.map((store) => joinTestWorker(store, false, now + TEST_LEASE_MS)))
      const ask = async (store: Store, at: number) =>
        (await commitOne(store, [{ op: 'lead', name: 'kernel', epoch: epochs[at] ?? 0, now }]))[0]
      const asked = await Promise.all(stores.map(ask))
      assert.deepEqual(asked.map(({ leading }) => leading).toSorted(), [false, true])
      assert.deepEqual(new Set(asked.map(({ token }) => token)), new Set([round + 1]))
    }
  })

  test('E15: of two changes of a setting that start from the same value, one is refused', async (t) => {
    const stores = await openTwo(t)
    let base: number | null = null
    for (const value of NUMBERS) {
      const change = (store: Store, at: number) =>
        commitOne(store, [{ op: 'set', name: 'list', value: 2 * value + at, base }])
      const outcomes = await Promise.allSettled(stores.map(change))
      assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
      base = (await stores[0].setting('list')) as number
      assert.equal(base, 2 * value + outcomes.findIndex(({ status }) => status === 'fulfilled'))
    }
  })

  test('I11: reservations of both together stay below the cap', async (t) => {
    const stores = await openTwo(t)
    const caps = [{ name: 'day', scope: 'day', unit: 'usd', limit: 1000 }] as const
    const spender = { kernel_id: 'k', agent_id: 'a', model: 'p/m', day: '2030-01-31' }
    const reserve = (store: Store, id: string) =>
      commitOne(store, [{ op: 'reserve', id, usd: 90, caps, dispatch_id: id, ...spender }])
    const results = await Promise.all(NUMBERS.flatMap((i) => stores.map((store, at) => reserve(store, `${i}-${at}`))))
    assert.equal(results.filter(([{ refused }]) => refused === null).length, 11)
    assert.equal((await stores[0].spend('2030', '2031'))[0]?.reserved, 990)
  })

  test('no lost wake-up: a message that comes while the run parks wakes it, or keeps it from parking', async (t) => {
    const [a, b] = await openTwo(t)
    const epoch = await joinTestWorker(a)
    await enqueueInStore(a, ...NUMBERS.map((i) => newTestDispatch(`d${i}`)))
    const fences = await claimInStore(a, epoch, NUMBERS.length)
    await Promise.all(
      fences.flatMap((fence) => [
        commitOne(a, [{ op: 'park', wait: WAIT_FOR_MESSAGE, now: TEST_NOW }], fence),
        commitOne(b, [
          {
            ...{ op: 'publish', session_id: `session-${fence.dispatch_id}`, successor_id: 'none', now: TEST_NOW },
            observation: newTestMessage('m'),
          },
        ]),
      ]),
    )
    assert.deepEqual(await a.dispatches({ status: 'waiting', limit: 100 }), [])
  })

  test('the audit log of both is one chain', async (t) => {
    const stores = await openTwo(t)
    const entry = { ts: TEST_NOW, what: 'policy' } as unknown as Extract<Op, { op: 'audit' }>['entry']
    await Promise.all(NUMBERS.flatMap(() => stores.map((store) => commitOne(store, [{ op: 'audit', entry }]))))
    const { links, last } = await stores[0].audit(1, { limit: 100 })
    assert.deepEqual({ last, count: links.length }, { last: 40, count: 40 })
    assert.deepEqual(
      links.map(({ n }) => n),
      Array.from({ length: 40 }, (_, i) => i + 1),
    )
    assert.equal(new Set(links.map(({ hash }) => hash)).size, 40)
  })

  test('groups that lock the same sessions in opposite order both succeed', async (t) => {
    const [a, b] = await openTwo(t)
    const names = NUMBERS.map((i) => `s${i}`)
    for (const session_id of names)
      await commitOne(a, [
        { op: 'open_session', session_id, kernel_id: 'k', agent_id: 'a', workspace: '/w', metadata: {}, now: TEST_NOW },
      ])
    const publish =
      (by: string) =>
      (session_id: string): Batch => ({
        ops: [
          {
            ...{ op: 'publish', session_id, successor_id: `${session_id}-${by}`, now: TEST_NOW },
            observation: newTestMessage(`m-${by}`),
          },
        ],
      })
    const outcomes = await Promise.all([
      a.commit(names.map(publish('a'))),
      b.commit(names.toReversed().map(publish('b'))),
    ])
    assert.ok(outcomes.flat().every(({ ok }) => ok))
    for (const name of names) assert.equal((await a.inbox(name)).length, 2)
  })

  test('E15: a commit of one tells the other; its own tell it nothing', async (t) => {
    const [a, b] = await openTwo(t)
    const told = new Promise<void>((resolve) => {
      let isSubscribed = false
      a.onChange?.(() => isSubscribed && resolve())
      // The first call says that the connection listens now.
      isSubscribed = true
    })
    await enqueueInStore(b, newTestDispatch('d'))
    await told
  })
})

const DONE = { status: 'done', result: null, error: null, failure_class: null, now: TEST_NOW } as const
