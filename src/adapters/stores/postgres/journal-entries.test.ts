import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import { openPostgres, WITHOUT_POSTGRES } from '../../../../test/support/postgres.ts'
import type { JournalPlace } from '../../../ports/store/sessions.ts'
import { commitOne, type Store } from '../../../ports/store.ts'
import {
  claimInStore,
  enqueueInStore,
  joinTestWorker,
  newTestDispatch,
  newTestRecord,
} from '../../../testing/store-test-helpers.ts'
import { systemClock } from '../../system/clock.ts'
import { openPostgresStore } from './store.ts'

describe('following the journals of a database', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })

  type End = (how: 'COMMIT' | 'ROLLBACK') => Promise<unknown>

  /**
   * `lock`: a transaction that locks a session of its own, appends an entry when its result is called, and ends when
   * the result of that is called. `append`: the first two at once.
   */
  async function openAll(t: TestContext): Promise<{
    readonly store: Store
    readonly lock: (name: string) => Promise<() => Promise<End>>
    readonly append: (name: string) => Promise<End>
  }> {
    const url = await server.newDatabase()
    const store = await openPostgresStore({ url, clock: systemClock, writerId: randomUUID(), leases: 'given' })
    t.after(() => store.close())
    const lock = async (name: string) => {
      await enqueueInStore(store, newTestDispatch(name))
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      t.after(() => client.end())
      const session = 'SELECT n FROM sessions WHERE session_id = $1 FOR UPDATE'
      await client.query('BEGIN')
      const { rows } = await client.query(session, [`session-${name}`])
      const body = JSON.stringify([newTestRecord(1, { run_id: name })])
      return async (): Promise<End> => {
        await client.query('INSERT INTO journal (session, seq, body) VALUES ($1, 1, $2)', [rows[0].n, body])
        return (how) => client.query(how)
      }
    }
    return { store, lock, append: async (name) => (await lock(name))() }
  }

  const read = async (store: Store, place: JournalPlace) => {
    const found = await store.journalAfter(place, 100)
    return { ...found, sessions: found.entries.map(({ session_id }) => session_id) }
  }

  test('E15: an entry whose transaction ends late is not lost, and one that is rolled back is given up', async (t) => {
    const { store, append } = await openAll(t)
    const endEarly = await append('early')
    const endVoid = await append('void')
    const endLate = await append('late')
    await (await append('first'))('COMMIT')
    const start = await store.journalEnd()
    assert.equal(start.open.length, 3, 'three transactions are open before the end')
    await endLate('COMMIT')
    const one = await read(store, start)
    assert.deepEqual(one.sessions, ['session-late'])
    await endVoid('ROLLBACK')
    await (await append('second'))('COMMIT')
    const two = await read(store, one.place)
    assert.deepEqual(two.sessions, ['session-second'])
    await endEarly('COMMIT')
    const three = await read(store, two.place)
    assert.deepEqual(three.sessions, ['session-early'])
    await (await append('third'))('COMMIT')
    const four = await read(store, three.place)
    assert.deepEqual(four.sessions, ['session-third'])
    assert.deepEqual(four.place.open, [])
  })

  test('E15: an entry is not lost if its transaction began after all that have ended, and ends last', async (t) => {
    const { store, lock, append } = await openAll(t)
    const start = await store.journalEnd()
    const insertFirst = await lock('first')
    const endLate = await append('late')
    await (await insertFirst())('COMMIT')
    const one = await read(store, start)
    assert.deepEqual(one.sessions, ['session-first'])
    const endNext = await append('next')
    const two = await read(store, one.place)
    await endNext('COMMIT')
    const three = await read(store, two.place)
    assert.deepEqual(three.sessions, ['session-next'])
    await endLate('COMMIT')
    const four = await read(store, three.place)
    assert.deepEqual(four.sessions, ['session-late'])
    await (await append('last'))('COMMIT')
    assert.deepEqual((await read(store, four.place)).place.open, [], 'nothing is looked for any more')
  })

  test('E15: two processes that append at once are followed without loss and in order', async (t) => {
    const url = await server.newDatabase()
    const open = async (): Promise<Store> => {
      const store = await openPostgresStore({ url, clock: systemClock, writerId: randomUUID(), leases: 'given' })
      t.after(() => store.close())
      return store
    }
    const [a, b, viewer] = [await open(), await open(), await open()]
    const names = Array.from({ length: 8 }, (_, i) => `d${i}`)
    const epoch = await joinTestWorker(a, false)
    await enqueueInStore(a, ...names.map((name) => newTestDispatch(name)))
    const fences = await claimInStore(a, epoch, names.length)
    let place = await viewer.journalEnd()
    let told = 0
    t.after(viewer.onAppend?.(() => (told += 1)) ?? (() => {}))
    const work = fences.map(async (fence, i) => {
      const session_id = `session-${fence.dispatch_id}`
      for (let seq = 1; seq <= 40; seq += 1)
        await commitOne(i % 2 ? a : b, [{ op: 'append', session_id, records: [newTestRecord(seq)] }], fence)
    })
    let isOver = false
    const done = Promise.all(work).finally(() => {
      isOver = true
    })
    const seen = new Map<string, number[]>()
    for (let isLast = false; !isLast; ) {
      isLast = isOver
      const found = await viewer.journalAfter(place, 7)
      place = found.place
      for (const { session_id, records } of found.entries)
        seen.set(session_id, [...(seen.get(session_id) ?? []), ...records.map(({ seq }) => seq)])
      isLast &&= found.isEnd
    }
    await done
    const all = Array.from({ length: 40 }, (_, i) => i + 1)
    assert.deepEqual([...seen].toSorted(), names.map((name) => [`session-${name}`, all]).toSorted())
    assert.ok(told > 0, 'the viewer was told of appends')
  })
})
