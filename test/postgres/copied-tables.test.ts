/** Both stores have the same tables and columns, as far as records are moved between them. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { COPIED_TABLES, ONLY_IN_POSTGRES, readCopiedTables } from '../../src/adapters/stores/copy/tables.ts'
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.ts'
import { openInMemory } from '../../src/adapters/stores/sqlite/connection.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { query } from '../support/moved-homes.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'

/** Made again from the copied tables, or true of one database only. */
const OTHERS = {
  sqlite: ['commits', 'facts_words', 'tally'],
  postgres: ['audit_head', 'facts_words', 'properties', 'schema_version', 'tally_shards', 'writers'],
}

describe('the tables that store move copies', () => {
  test('E15: a new table of SQLite is copied, or listed as one that need not be', () => {
    const db = openInMemory()
    const found = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
    const names = found.map(({ name }) => String(name)).filter((name) => !/^(sqlite_|facts_words_)/.test(name))
    assert.deepEqual(names.toSorted(), [...COPIED_TABLES, ...OTHERS.sqlite].toSorted())
    db.close()
  })

  test('E15: PostgreSQL has the same columns, and others only where they describe its processes', {
    skip: WITHOUT_POSTGRES,
  }, async (t) => {
    const url = await (await openPostgres(t, { fsync: 'off' })).newDatabase()
    await (await openPostgresStore({ url, clock: systemClock, writerId: 'w' })).close()
    const tables = await query(url, "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'")
    assert.deepEqual(tables.map(({ name }) => name).toSorted(), [...COPIED_TABLES, ...OTHERS.postgres].toSorted())
    const columns = await query(
      url,
      "SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = 'public'",
    )
    const db = openInMemory()
    const copied = readCopiedTables(db).flatMap((table) => table.columns.map(({ name }) => `${table.name}.${name}`))
    db.close()
    const there = columns.map(({ name }) => String(name))
    assert.deepEqual(
      copied.filter((name) => !there.includes(name)),
      [],
    )
    const extra = there.filter(
      (name) => COPIED_TABLES.some((table) => name.startsWith(`${table}.`)) && !copied.includes(name),
    )
    assert.deepEqual(
      extra.filter((name) => !ONLY_IN_POSTGRES.includes(name)),
      [],
    )
  })
})
