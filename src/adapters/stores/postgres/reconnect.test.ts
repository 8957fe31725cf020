import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { after, describe, type TestContext, test } from 'node:test'
import { openPooler, WITHOUT_POOLER } from '../../../../test/support/pooler.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../../../../test/support/postgres.ts'
import { commitOne, type Fence, type Op, type Store } from '../../../ports/store.ts'
import {
  claimInStore,
  enqueueInStore,
  joinTestWorker,
  newTestDispatch,
  newTestRecord,
} from '../../../testing/store-test-helpers.ts'
import { systemClock } from '../../system/clock.ts'
import { openPostgresStore } from './store.ts'

/** `request`: the COMMIT never arrives. `reply`: it is not answered. `late`: it arrives after the retry has begun. */
type Loss = 'request' | 'reply' | 'late'
type LossOf = (commit: number, message: number) => Loss | undefined

/** A way to the database that loses the connection at every COMMIT whose turn has come. */
async function openLossyWay(t: TestContext, url: string, lossOf: LossOf) {
  const target = new URL(url)
  let [commits, messages] = [0, 0]
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname)
    for (const socket of [client, server]) socket.on('error', () => {})
    let isLost = false
    client.on('data', (chunk) => {
      if (chunk.includes('; COMMIT\0')) commits += 1
      const loss = lossOf(chunk.includes('; COMMIT\0') ? commits : 0, ++messages)
      if (loss === 'request') return destroyBoth()
      isLost = loss !== undefined
      if (loss === 'late') {
        client.destroy()
        setTimeout(() => server.end(chunk), 200)
      } else server.write(chunk)
    })
    const destroyBoth = (): void => void [client, server].map((socket) => socket.destroy())
    server.on('data', (chunk) => (isLost ? destroyBoth() : client.write(chunk)))
    server.on('close', () => client.destroy())
    client.on('close', () => !isLost && server.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => proxy.close())
  return Object.assign(new URL(url), { port: String((proxy.address() as AddressInfo).port) }).href
}

const spentOp = (id: string): Op => ({
  ...{ op: 'spent', id, usd: 1, usage: { input_tokens: 1, output_tokens: 1, cached_tokens: 0 } },
  ...{ kernel_id: 'k', agent_id: 'a', dispatch_id: 'd', model: 'p/m', day: '2030-01-31' },
})

const AUDITED = { ts: 1, what: 'policy' } as unknown as Extract<Op, { op: 'audit' }>['entry']

describe('a lost connection', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })
  const open = async (t: TestContext, url: string, patienceMs = 30_000): Promise<Store> => {
    const store = await openPostgresStore({
      url,
      clock: systemClock,
      writerId: randomUUID(),
      leases: 'given',
      patienceMs,
    })
    t.after(() => store.close())
    return store
  }
  const totals = async (store: Store) => {
    const [row] = await store.spend('2030', '2031')
    return { calls: row?.calls, usd: row?.usd }
  }

  const losses: Readonly<Record<string, LossOf>> = {
    'its request': (commit) => (commit % 3 === 2 ? 'request' : undefined),
    'its reply': (commit) => (commit % 3 === 2 ? 'reply' : undefined),
    'and the request comes late': (commit) => (commit % 3 === 2 ? 'late' : undefined),
    // More than the store sends while it is opened, so that a repeated attempt succeeds.
    'any message': (_, message) => (message % 23 === 10 ? 'request' : undefined),
    'any reply': (_, message) => (message % 23 === 10 ? 'reply' : undefined),
  }
  for (const [what, lossOf] of Object.entries(losses))
    test(`E15: during a commit (lost: ${what}) neither loses nor doubles a group`, async (t) => {
      const way = await openLossyWay(t, await server.newDatabase(), lossOf)
      const store = await open(t, way)
      const epoch = await joinTestWorker(store)
      await enqueueInStore(store, newTestDispatch('one'))
      // A claim skips what an earlier attempt at it still holds.
      let fence: Fence | undefined
      while (!fence) [fence] = await claimInStore(store, epoch)
      for (let seq = 1; seq <= 12; seq += 1) {
        const append: Op = { op: 'append', session_id: 'session-one', records: [newTestRecord(seq)] }
        const results: readonly unknown[] = await commitOne(
          store,
          [append, spentOp(`s${seq}`), { op: 'audit', entry: AUDITED }],
          fence,
        )
        assert.deepEqual(results.slice(0, 2), [{ head: seq }, null])
      }
      assert.deepEqual(await totals(store), { calls: 12, usd: 12 })
      assert.equal((await store.audit(1, { limit: 100 })).links.length, 12)
      assert.equal((await store.journal('session-one')).length, 12)
    })

  for (const how of ['fast', 'immediate'] as const)
    test(`E15: a restart of the database (${how}) under load loses and doubles nothing`, async (t) => {
      const store = await open(t, await server.newDatabase())
      let isOver = false
      let acknowledged = 0
      const work = Array.from({ length: 8 }, async (_, worker) => {
        for (let i = 0; !isOver; i += 1) {
          await commitOne(store, [spentOp(`${worker}-${i}`)])
          acknowledged += 1
        }
      })
      const waitForMore = async () => {
        for (const from = acknowledged; acknowledged < from + 40; ) await systemClock.sleep(5)
      }
      await waitForMore()
      await server.restart(how)
      await waitForMore()
      isOver = true
      await Promise.all(work)
      assert.deepEqual(await totals(store), { calls: acknowledged, usd: acknowledged })
    })

  test('E15: a database that stays away fails what waits; the store goes on when it is back', async (t) => {
    const store = await open(t, await server.newDatabase(), 200)
    await enqueueInStore(store, newTestDispatch('before'))
    await server.stop('fast')
    const away = { code: 'store_failed', message: /the database cannot be reached/ }
    await assert.rejects(enqueueInStore(store, newTestDispatch('away')), away)
    await assert.rejects(store.counts(), away)
    await server.start()
    await enqueueInStore(store, newTestDispatch('after'))
    assert.equal((await store.counts()).pending, 2)
  })

  test('E15: works through a pooler that changes the connection per transaction', {
    skip: WITHOUT_POOLER,
  }, async (t) => {
    const through = await openPooler(server, 2)
    const url = through(await server.newDatabase())
    const stores = [await open(t, url), await open(t, url)]
    await Promise.all(
      stores.flatMap((store, at) =>
        Array.from({ length: 30 }, (_, i) =>
          commitOne(store, [spentOp(`${at}-${i}`), { op: 'set', name: 'x', value: i }]),
        ),
      ),
    )
    for (const store of stores) assert.deepEqual(await totals(store), { calls: 60, usd: 60 })
    assert.deepEqual(await stores[0]?.unreadable(), [])
  })
})
