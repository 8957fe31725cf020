import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import { openPostgres, WITHOUT_POSTGRES } from '../../../../test/support/postgres.ts'
import { canMove, DISPATCH_STATUSES } from '../../../domain/dispatch.ts'
import { commitOne, type Store } from '../../../ports/store.ts'
import {
  claimInStore,
  enqueueInStore,
  joinTestWorker,
  newTestDispatch,
  newTestMessage,
  newTestRecord,
  settleOp,
  startDispatch,
  TEST_NOW,
} from '../../../testing/store-test-helpers.ts'
import { systemClock } from '../../system/clock.ts'
import { openSqliteStore } from '../sqlite/store.ts'
import { PgConnection, parseStoreUrl } from './connection.ts'
import { migrateDatabase } from './migrate.ts'
import { openPostgresStore } from './store.ts'

describe('the database of a postgres store', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })
  const openAt = (url: string) =>
    openPostgresStore({ url, clock: systemClock, writerId: randomUUID(), leases: 'given', patienceMs: 5000 })

  async function setUp(
    t: TestContext,
  ): Promise<{ readonly url: string; readonly store: Store; readonly db: pg.Client }> {
    const url = await server.newDatabase()
    const store = await openAt(url)
    // The superuser may switch off triggers, as damage does.
    const db = new pg.Client(Object.assign(new URL(server.adminUrl), { pathname: new URL(url).pathname }).href)
    await db.connect()
    t.after(async () => {
      await store.close()
      await db.end()
    })
    return { url, store, db }
  }

  test('a newer schema is refused, and not changed', async (t) => {
    const { url, db } = await setUp(t)
    await db.query('UPDATE schema_version SET n = 99')
    await assert.rejects(
      openAt(url),
      (error: Error & { code?: string }) =>
        error.code === 'store_unsupported' && /schema 99.*upgrade/.test(error.message),
    )
    assert.equal((await db.query('SELECT n::int FROM schema_version')).rows[0].n, 99)
  })

  test('E15: a migration that adds a column does not stop a worker of the version before', async (t) => {
    const { url, store, db } = await setUp(t)
    const { epoch } = await startDispatch(store)
    await enqueueInStore(store, newTestDispatch('two'))
    assert.equal((await store.dispatches({ limit: 9 })).length, 2)
    const connection = await PgConnection.open(parseStoreUrl(url))
    const version = async (): Promise<number> => (await db.query('SELECT n::int FROM schema_version')).rows[0].n
    const before = await version()
    const known = Array.from({ length: before }, () => 'SELECT 1')
    const added = 'ALTER TABLE dispatches ADD COLUMN added BIGINT NOT NULL DEFAULT 0'
    await Promise.all([migrateDatabase(connection, [...known, added]), store.dispatch('one')])
    await connection.close()
    assert.equal(await version(), before + 1)
    // The statements that it prepared return one more column now.
    assert.equal((await store.dispatches({ limit: 9 })).length, 2)
    assert.equal((await claimInStore(store, epoch)).length, 1)
  })

  test('a database that confirms commits before they are on disk is refused', async (t) => {
    const { url, db } = await setUp(t)
    await db.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`)
    await assert.rejects(openAt(url), { code: 'store_unsupported', message: /synchronous_commit = off/ })
  })

  test('texts that PostgreSQL cannot store come back as they were', async (t) => {
    const { store } = await setUp(t)
    const odd = 'a\0b\uE000c\uE0000\uE000\0 \u2028 \u{1F600} é \uE0000'
    const { epoch } = await startDispatch(store, 'first')
    await enqueueInStore(store, newTestDispatch('odd', { prompt: odd, metadata: { odd }, session_id: odd }))
    const [fence] = await claimInStore(store, epoch)
    await commitOne(store, [{ op: 'append', session_id: odd, records: [newTestRecord(1, { task: odd })] }], fence)
    await commitOne(store, [{ ...settleOp('done'), result: odd }], fence)
    const found = await store.dispatch('odd')
    assert.deepEqual(
      { prompt: found?.prompt, metadata: found?.metadata, session_id: found?.session_id, result: found?.result },
      { prompt: odd, metadata: { odd }, session_id: odd, result: odd },
    )
    assert.equal(((await store.journal(odd))[0] as { task?: string }).task, odd)
  })

  test('E6: the journal is append-only, and a dispatch follows its transition table only', async (t) => {
    const { store, db } = await setUp(t)
    const { fence } = await startDispatch(store)
    await commitOne(store, [{ op: 'append', session_id: 'session-one', records: [newTestRecord(1)] }], fence)
    await assert.rejects(db.query("UPDATE journal SET body = '{}'"), /append-only/)
    await assert.rejects(db.query('DELETE FROM journal'), /append-only/)
    for (const from of DISPATCH_STATUSES)
      for (const to of DISPATCH_STATUSES) {
        await db.query('BEGIN; ALTER TABLE dispatches DISABLE TRIGGER dispatches_move')
        await db.query('UPDATE dispatches SET status = $1', [from])
        await db.query('ALTER TABLE dispatches ENABLE TRIGGER dispatches_move')
        const move = db.query('UPDATE dispatches SET status = $1', [to])
        if (from === to || canMove(from, to)) await move
        else await assert.rejects(move, /cannot move like that/, `${from} to ${to}`)
        await db.query('ROLLBACK')
      }
  })

  test('a change of a setting starts from its value, however it is written; from garbage, it is refused', async (t) => {
    const { store, db } = await setUp(t)
    const change = { op: 'set', name: 'list', value: [1, 2], base: [1] } as const
    await db.query("INSERT INTO settings VALUES ('list', '{')")
    await assert.rejects(commitOne(store, [change]), { code: 'store_sequence' })
    await db.query("UPDATE settings SET value = ' [ 1 ] '")
    await commitOne(store, [change])
    assert.deepEqual(await store.setting('list'), [1, 2])
  })

  test('garbage in rows fails single reads, lists leave it out, and it can be set aside', async (t) => {
    const { store, db } = await setUp(t)
    await joinTestWorker(store)
    await enqueueInStore(store, ...['a', 'b', 'c'].map((id) => newTestDispatch(id)))
    const observation = newTestMessage('m')
    await commitOne(store, [
      { op: 'publish', session_id: 'session-a', observation, successor_id: 's', now: TEST_NOW },
      { op: 'set', name: 'paused', value: true },
      { op: 'label', of: '/w', label: { trust: 'trusted', private: false } },
    ])
    await db.query(`SET session_replication_role = replica;
      UPDATE dispatches SET metadata = 'garbage' WHERE dispatch_id = 'a'; UPDATE inbox SET body = '{}';
      UPDATE dispatches SET priority = 9007199254740993 WHERE dispatch_id = 'b';
      UPDATE settings SET value = '{'; UPDATE labels SET trust = 'maybe'; UPDATE tally_shards SET n = n + 5`)
    await assert.rejects(store.dispatch('a'), { code: 'row_unreadable' })
    await assert.rejects(store.setting('paused'), { code: 'row_unreadable' })
    assert.deepEqual(
      (await store.dispatches({ limit: 1 })).map(({ dispatch_id }) => dispatch_id),
      ['c'],
    )
    assert.deepEqual(await store.inbox('session-a'), [])
    assert.deepEqual(await store.label('/w'), { trust: 'untrusted', private: false })
    assert.deepEqual(
      (await claimInStore(store, 1, 9)).map(({ dispatch_id }) => dispatch_id),
      ['c'],
    )
    const bad = await store.unreadable()
    assert.deepEqual(bad.map(({ table, key }) => `${table} ${key}`).toSorted(), [
      'dispatches a',
      'dispatches b',
      'inbox 1 m',
      'labels /w',
      'settings paused',
      'tally pending',
    ])
    const [{ moved }] = await commitOne(store, [{ op: 'set_aside', rows: bad, now: TEST_NOW }])
    assert.equal(moved, bad.length)
    assert.deepEqual(await store.unreadable(), [])
    assert.deepEqual(
      { pending: (await store.counts()).pending, running: (await store.counts()).running },
      { pending: 0, running: 1 },
    )
    assert.deepEqual(await store.setting('paused'), {})
    assert.equal((await store.setAside({ limit: 100 })).length, moved)
  })

  test('a backup is an SQLite database with everything', async (t) => {
    const { store } = await setUp(t)
    const { fence } = await startDispatch(store)
    await commitOne(store, [{ op: 'append', session_id: 'session-one', records: [newTestRecord(1)] }], fence)
    const fact = {
      ...{ id: 'f', agent_id: 'a', key: 'tea', text: 'green tea', session_id: 's', turn: 1, private: false },
      ...{ trust: 'trusted' as const, created_at: new Date(TEST_NOW).toISOString(), expires_at: null },
    }
    await commitOne(store, [{ op: 'remember', fact, now: TEST_NOW }])
    const folder = mkdtempSync(join(tmpdir(), 'tireless-copy-'))
    t.after(() => rmSync(folder, { recursive: true }))
    await store.backup(join(folder, 'copy.db'))
    const copy = await openSqliteStore({ file: join(folder, 'copy.db'), clock: systemClock })
    for (const read of [
      (s: Store) => s.dispatch('one'),
      (s: Store) => s.journal('session-one'),
      (s: Store) => s.recallFacts({ text: 'tea', now: TEST_NOW, limit: 9 }),
      (s: Store) => s.counts(),
      (s: Store) => s.unreadable(),
    ])
      assert.deepEqual(await read(copy), await read(store))
    await copy.close()
  })
})
