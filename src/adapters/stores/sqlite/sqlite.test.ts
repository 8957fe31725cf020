import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { canMove, DISPATCH_STATUSES } from '../../../domain/dispatch.ts'
import { type Batch, commitOne } from '../../../ports/store.ts'
import { storeConformance } from '../../../testing/store-conformance.ts'
import { enqueueInStore, newTestDispatch, newTestRecord, startDispatch } from '../../../testing/store-test-helpers.ts'
import { checkSqliteVersion } from './connection.ts'
import { checkIntegrity } from './copy-database.ts'
import { openSqliteStore } from './store.ts'

const clock = { monotonic: () => performance.now() }

const folder = mkdtempSync(join(tmpdir(), 'tireless-store-'))
after(() => rmSync(folder, { recursive: true }))
let fileCount = 0
const freshFile = (): string => join(folder, `${fileCount++}.db`)

// `here` is what `as_it_suits` chooses for these small commits, and what the simulator uses.
for (const writes of ['thread', 'as_it_suits'] as const)
  describe(`sqlite store, writes: ${writes}`, () => {
    for (const { name, run } of storeConformance)
      test(name, async () => {
        const store = await openSqliteStore({ file: freshFile(), clock, writes })
        try {
          await run(store)
        } finally {
          await store.close()
        }
      })
  })

describe('sqlite store', () => {
  test('acknowledged commits survive a restart; only the owner can read the database', async () => {
    const file = freshFile()
    const first = await openSqliteStore({ file, clock })
    await commitOne(first, [{ op: 'join', name: 'w', now: 1, lease_until: 2, alone: true }])
    await first.close()
    const second = await openSqliteStore({ file, clock })
    const [{ epoch }] = await commitOne(second, [{ op: 'join', name: 'w', now: 1, lease_until: 2, alone: true }])
    await second.close()
    assert.equal(epoch, 2)
    assert.equal(statSync(file).mode & 0o777, 0o600)
  })

  test('a change of a setting starts from its value, however it is written; from garbage, it is refused', async (t) => {
    const file = freshFile()
    const store = await openSqliteStore({ file, clock })
    const db = new DatabaseSync(file)
    t.after(async () => {
      db.close()
      await store.close()
    })
    const change = { op: 'set', name: 'list', value: [1, 2], base: [1] } as const
    db.exec("INSERT INTO settings VALUES ('list', '{')")
    await assert.rejects(commitOne(store, [change]), { code: 'store_sequence' })
    db.exec("UPDATE settings SET value = ' [ 1 ] '")
    await commitOne(store, [change])
    assert.deepEqual(await store.setting('list'), [1, 2])
  })

  test('durability settings apply to the writing connection', async () => {
    const file = freshFile()
    await (await openSqliteStore({ file, clock })).close()
    const db = new DatabaseSync(file)
    assert.equal(db.prepare('PRAGMA journal_mode').get()?.journal_mode, 'wal')
    db.close()
  })

  test('the journal is append-only', async () => {
    const file = freshFile()
    const store = await openSqliteStore({ file, clock })
    await commitOne(store, [
      { op: 'enqueue', now: 1, dispatches: [newTestDispatch('d', { session_id: 's' })] },
      {
        op: 'append',
        session_id: 's',
        records: [{ kind: 'decided', turn: 1, decision: { kind: 'final', answer: 'a' }, seq: 1, ts: 1 }],
      },
    ])
    await store.close()
    const db = new DatabaseSync(file)
    assert.equal(db.prepare('SELECT count(*) AS n FROM journal').get()?.n, 1)
    assert.throws(() => db.exec("UPDATE journal SET body = '{}'"), /append-only/)
    assert.throws(() => db.exec('DELETE FROM journal'), /append-only/)
    db.close()
  })

  test('E6: a dispatch follows its transition table only', async () => {
    const file = freshFile()
    const store = await openSqliteStore({ file, clock })
    await enqueueInStore(store, ...DISPATCH_STATUSES.map((status) => newTestDispatch(status)))
    await store.close()
    const db = new DatabaseSync(file)
    for (const from of DISPATCH_STATUSES)
      for (const to of DISPATCH_STATUSES) {
        db.exec('BEGIN')
        const trigger = String(db.prepare("SELECT sql FROM sqlite_master WHERE name = 'dispatches_move'").get()?.sql)
        db.exec(
          'DROP TRIGGER dispatches_move; UPDATE dispatches SET status ' +
            `= '${from}' WHERE dispatch_id = '${from}'; ${trigger}`,
        )
        const move = () => db.exec(`UPDATE dispatches SET status = '${to}' WHERE dispatch_id = '${from}'`)
        if (from === to || canMove(from, to)) move()
        else assert.throws(move, /cannot move like that/, `${from} to ${to}`)
        db.exec('ROLLBACK')
      }
    db.close()
  })

  test('a file that is not a database is refused with a remedy and not changed', async () => {
    const file = freshFile()
    writeFileSync(file, 'this is not a database, but a file of the user\n'.repeat(100))
    await assert.rejects(
      openSqliteStore({ file, clock }),
      (error: Error & { code?: string }) => error.code === 'store_failed' && /restore a backup/.test(error.message),
    )
    assert.match(readFileSync(file, 'utf8'), /^this is not a database/)
  })

  test('reading a long journal yields to the event loop', async () => {
    const store = await openSqliteStore({ file: freshFile(), clock, writes: 'here' })
    const { fence } = await startDispatch(store)
    const append = (seq: number): Batch => ({
      ...{ fence, ops: [{ op: 'append', session_id: 'session-one', records: [newTestRecord(seq)] }] },
    })
    await store.commit(Array.from({ length: 1000 }, (_, i) => append(i + 1)))
    let turns = 0
    const reading = store.journal('session-one')
    let isRead = false
    void reading.then(() => (isRead = true))
    while (!isRead) {
      await new Promise((resolve) => setImmediate(resolve))
      turns += 1
    }
    assert.equal((await reading).length, 1000)
    assert.ok(turns >= 5, `${turns} turns`)
    await store.close()
  })

  test('case 95: verify finds damage on disk, and none in a sound database', async () => {
    const file = freshFile()
    const store = await openSqliteStore({ file, clock })
    const long = { prompt: 'p'.repeat(50) }
    await enqueueInStore(store, ...Array.from({ length: 2000 }, (_, i) => newTestDispatch(`d${i}`, long)))
    assert.deepEqual(await store.verify(), [])
    await store.close()
    const bytes = readFileSync(file)
    bytes.fill(0xff, bytes.length - 8192, bytes.length - 4096)
    writeFileSync(file, bytes)
    const damaged = await openSqliteStore({ file, clock })
    assert.notDeepEqual(await damaged.verify(), [])
    await damaged.close()
  })

  test('a backup has all earlier commits in a single file, and damage in it is found', async () => {
    const file = freshFile()
    const store = await openSqliteStore({ file, clock })
    const enqueueMore = (from: number, count: number) =>
      enqueueInStore(store, ...Array.from({ length: count }, (_, i) => newTestDispatch(`d${from + i}`)))
    await enqueueMore(0, 2000)
    let isOver = false
    const enqueueing = (async () => {
      for (let i = 0; !isOver; i += 1) await enqueueMore(2000 + i, 1)
    })()
    const to = join(mkdtempSync(join(folder, 'backup-')), 'copy.db')
    await store.backup(to)
    isOver = true
    await enqueueing
    await store.close()
    checkIntegrity(to)
    assert.deepEqual(readdirSync(dirname(to)), ['copy.db'], 'the check creates no further files')
    const copy = await openSqliteStore({ file: to, clock })
    assert.ok((await copy.counts()).pending >= 2000)
    await copy.close()
    const bytes = readFileSync(to)
    bytes.fill(0xff, bytes.length - 8192, bytes.length - 4096)
    writeFileSync(to, bytes)
    assert.throws(() => checkIntegrity(to), { code: 'store_failed' })
    writeFileSync(to, 'not a database')
    assert.throws(() => checkIntegrity(to), { code: 'store_failed' })
  })

  test('a database with an unknown schema is refused', async () => {
    const file = freshFile()
    const db = new DatabaseSync(file)
    db.exec('PRAGMA user_version = 99')
    db.close()
    await assert.rejects(
      openSqliteStore({ file, clock }),
      (error: Error & { code?: string }) => error.code === 'store_unsupported' && /schema 99/.test(error.message),
    )
  })

  test('an SQLite version with the WAL-reset bug is refused', () => {
    for (const old of ['3.51.2', '3.50.9', '2.99.99']) assert.throws(() => checkSqliteVersion(old), /3\.51\.3 or newer/)
    for (const good of ['3.51.3', '3.52.0', '4.0.0']) checkSqliteVersion(good)
  })

  test('case 101: after a failed commit, neither it nor any later one is acknowledged', async () => {
    const file = freshFile()
    const store = await openSqliteStore({ file, clock })
    const join1 = { op: 'join', name: 'w', now: 1, lease_until: 2, alone: true } as const
    await commitOne(store, [join1])
    // An exclusive lock of another writer makes a commit fail on every machine.
    const blocker = new DatabaseSync(file)
    blocker.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE')
    await assert.rejects(commitOne(store, [join1]), { code: 'store_failed' })
    blocker.exec('ROLLBACK')
    blocker.close()
    await assert.rejects(commitOne(store, [join1]), { code: 'store_failed' })
    await store.close()
  })
})
