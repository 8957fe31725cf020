/** A1: migrations are atomic, tested with a schema that does not exist yet. */

import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { openForWriting } from '../../src/adapters/stores/sqlite/connection.ts'
import { OLDEST_MIGRATED, type SchemaHistory } from '../../src/adapters/stores/sqlite/migrations/list.ts'
import { SCHEMA_VERSION } from '../../src/adapters/stores/sqlite/schema.ts'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/store.ts'
import { hasStrace, NODE_FLAGS, run } from '../crash/kills.ts'
import { tireless } from '../support/command-line.ts'
import { freshFolder } from '../support/open-app.ts'
import { dumpDatabase, schemaIn } from './dump-database.ts'
import { copyKeptHome, keptSchemas } from './kept-homes.ts'
import { BROKEN, NEXT } from './next-schema.ts'

const clock = { monotonic: () => performance.now() }
const MAIN = join(import.meta.dirname, 'migrate-main.ts')

/** A database of today's schema with rows, whose last commits are still in the write-ahead log. */
function oldDatabase(t: TestContext): string {
  const home = freshFolder(t)
  copyKeptHome(keptSchemas().at(-1) ?? 0, home)
  const file = join(home, 'tireless.db')
  openForWriting(file, { keepCopy: false }).close()
  return file
}

const withDatabase = <T>(file: string, look: (db: DatabaseSync) => T): T => {
  const db = new DatabaseSync(file)
  try {
    return look(db)
  } finally {
    db.close()
  }
}
const versionOf = (file: string): number =>
  withDatabase(file, (db) => Number(db.prepare('PRAGMA user_version').get()?.user_version))
const copies = (file: string): string[] =>
  readdirSync(join(file, '..')).filter((name) => name.includes('before-upgrade'))
const migrateTo = (file: string, history: SchemaHistory): void => openForWriting(file, { history }).close()

/** Contract: the database is either the old one, unchanged, or complete in the new schema. */
function assertOldOrNew(file: string, before: string): 'old' | 'new' {
  assert.equal(
    withDatabase(file, (db) => db.prepare('PRAGMA integrity_check').get()?.integrity_check),
    'ok',
  )
  if (versionOf(file) === SCHEMA_VERSION) {
    assert.equal(dumpDatabase(file, '/'), before)
    return 'old'
  }
  assert.equal(versionOf(file), NEXT.version)
  assert.deepEqual(withDatabase(file, schemaIn), fresh())
  const [keptCopy] = copies(file)
  assert.equal(dumpDatabase(join(file, '..', keptCopy ?? ''), '/'), before, 'a copy of the old database is beside it')
  return 'new'
}

function fresh(): Readonly<Record<string, string>> {
  const db = new DatabaseSync(':memory:')
  db.exec(NEXT.tables)
  return schemaIn(db)
}

describe('migrations', () => {
  test('keeps every row, gives the schema of a fresh database, and leaves a copy of the old one', (t) => {
    const file = oldDatabase(t)
    // Still in the log when the copy is made.
    const open = new DatabaseSync(file)
    open.exec("INSERT INTO labels VALUES ('workspace:/x', 'untrusted', 1)")
    const before = dumpDatabase(file, '/')
    migrateTo(file, NEXT)
    open.close()
    assert.equal(assertOldOrNew(file, before), 'new')
    assert.deepEqual(copies(file), [`tireless-schema-${SCHEMA_VERSION}-before-upgrade.db`])
    const copy = join(file, '..', copies(file)[0] ?? '')
    assert.equal(statSync(copy).mode & 0o777, 0o600)
    const rows = (db: DatabaseSync) => db.prepare('SELECT epoch, name, left_at FROM workers').all()
    assert.deepEqual(withDatabase(file, rows), withDatabase(copy, rows))
    assert.equal(
      withDatabase(file, (db) => db.prepare('PRAGMA foreign_key_check').all().length),
      0,
    )
    // The copy is a complete database: it can be put back.
    openForWriting(copy).close()
  })

  test('keeps the copies of the three newest upgrades', (t) => {
    const file = oldDatabase(t)
    const old = join(file, '..', 'old.db')
    copyFileSync(file, old)
    const folder = join(file, '..')
    for (let i = 1; i <= 5; i += 1) {
      copyFileSync(old, file)
      migrateTo(file, NEXT)
      // A minute passes between two upgrades.
      for (const name of copies(file)) {
        const { mtimeMs } = statSync(join(folder, name))
        utimesSync(join(folder, name), mtimeMs / 1000 - 60, mtimeMs / 1000 - 60)
      }
    }
    assert.equal(copies(file).length, 3)
  })

  test('a step that fails leaves the old database and no copy', (t) => {
    const file = oldDatabase(t)
    const before = dumpDatabase(file, '/')
    assert.throws(
      () => migrateTo(file, BROKEN),
      (error: Error & { code?: string }) =>
        error.code === 'store_failed' &&
        /could not be migrated to schema.*it is unchanged.*do this/s.test(error.message),
    )
    assert.equal(assertOldOrNew(file, before), 'old')
    assert.deepEqual(copies(file), [])
  })

  test('a step that would break a foreign key is refused', (t) => {
    const file = oldDatabase(t)
    const history = {
      ...NEXT,
      migrations: [...NEXT.migrations].map((step) => ({ ...step, apply: 'DELETE FROM sessions WHERE n = 1' })),
    }
    assert.throws(() => migrateTo(file, history), /refer to missing rows/)
    assert.equal(versionOf(file), SCHEMA_VERSION)
  })

  test('case 95: newer, unreleased and foreign databases are refused with advice, and stay unchanged', async (t) => {
    const cases: readonly (readonly [string, RegExp])[] = [
      [`PRAGMA user_version = ${SCHEMA_VERSION + 1}`, /newer version.*do this: install that version.*restore/],
      [`PRAGMA user_version = ${OLDEST_MIGRATED - 1}`, /unreleased.*do this: run the checkout/],
      ['CREATE TABLE theirs (x)', /another program.*do this: choose another folder/],
    ]
    for (const [sql, message] of cases) {
      const home = freshFolder(t)
      const file = join(home, 'tireless.db')
      withDatabase(file, (db) => db.exec(sql))
      const before = readFileSync(file)
      await assert.rejects(openSqliteStore({ file, clock }), { code: 'store_unsupported' })
      for (const command of ['status', 'start', 'doctor']) {
        const { exit, stdout, stderr } = await tireless(home, command)
        assert.equal(exit, 1, command)
        assert.match(
          `${stdout}${stderr}`.replaceAll('\n', ' '),
          command === 'doctor' ? /fix: (install|run|choose)|do this/ : message,
          command,
        )
      }
      assert.deepEqual(readFileSync(file), before, sql)
      assert.ok(!existsSync(`${file}-wal`), sql)
    }
  })

  test('several processes at once: one migrates, and all open the new database', async (t) => {
    const file = oldDatabase(t)
    const before = dumpDatabase(file, '/')
    const ends = await Promise.all(Array.from({ length: 3 }, () => run(process.execPath, [...NODE_FLAGS, MAIN, file])))
    assert.deepEqual(
      ends.map(({ exit, stderr }) => [exit, stderr]),
      Array.from({ length: 3 }, () => [0, '']),
    )
    assert.equal(assertOldOrNew(file, before), 'new')
    assert.equal(copies(file).length, 1)
  })

  test('a kill or a full disk at any write or sync leaves the old or the new database', async (t) => {
    if (!hasStrace) return t.skip('strace is missing')
    const old = oldDatabase(t)
    const before = dumpDatabase(old, '/')
    const reached = { old: 0, new: 0 }
    for (const [fault, calls, stride] of FAULTS)
      for (let point = 1; ; point += stride) {
        const file = join(freshFolder(t), 'tireless.db')
        copyFileSync(old, file)
        const { exit, stderr } = await faultAt(fault, calls, point, file)
        const found = assertOldOrNew(file, before)
        reached[found] += 1
        if (exit === 0) break
        if (fault !== 'signal=KILL') {
          assert.match(stderr, /do this/, `${calls} ${point}`)
          // After the commit, a full disk can still stop the checkpoint; the message must not claim otherwise.
          if (found === 'new') assert.doesNotMatch(stderr, /it is unchanged/, `${calls} ${point}`)
        }
        assert.ok(copies(file).length <= 1, `${calls} ${point}`)
        // The next attempt succeeds, whatever the failed one left behind.
        if (point % (stride * 4) === 1) {
          migrateTo(file, NEXT)
          assert.equal(versionOf(file), NEXT.version)
        }
      }
    assert.ok(reached.old > 10 && reached.new > 1, JSON.stringify(reached))
    t.diagnostic(JSON.stringify(reached))
  })
})

const FAULTS = [
  ['signal=KILL', 'pwrite64', 15],
  ['signal=KILL', 'fsync,fdatasync', 1],
  ['signal=KILL', '/^rename', 1],
  ['signal=KILL', '/^unlink', 1],
  ['error=ENOSPC', 'pwrite64', 15],
] as const

/**
 * Injects into the migrating process only. Errors last from that call on; other writes of the process are not counted.
 */
function faultAt(fault: string, calls: string, point: number, file: string): ReturnType<typeof run> {
  const when = fault.startsWith('error') ? `${point}+` : String(point)
  const strace = ['-f', '-o', '/dev/null', '-e', `trace=${calls}`, '-e', `inject=${calls}:${fault}:when=${when}`]
  return run('env', ['NODE_DISABLE_COMPILE_CACHE=1', 'strace', ...strace, process.execPath, ...NODE_FLAGS, MAIN, file])
}
