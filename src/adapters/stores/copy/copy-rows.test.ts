/** A copy that differs from its original is noticed, and the record is named. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openInMemory } from '../sqlite/connection.ts'
import { compareRows, copyRows } from './copy-rows.ts'
import { createSqliteRows } from './sqlite-rows.ts'
import { readCopiedTables } from './tables.ts'

test('E15: a changed, a missing and an additional record of a copy are found', async () => {
  const [original, copy] = [openInMemory(), openInMemory()]
  original.exec(`INSERT INTO settings VALUES ('a', '1'), ('b', '2'), ('c', '3');
    INSERT INTO workers (name, joined_at, lease_until) VALUES ('w', 1, 9007199254740993)`)
  const tables = readCopiedTables(original)
  const [source, target] = [createSqliteRows(original), createSqliteRows(copy)]
  await copyRows(tables, source, target)
  const digests = await compareRows(tables, source, target)
  assert.deepEqual(
    digests.filter(({ rows }) => rows > 0).map(({ table, rows }) => `${table} ${rows}`),
    ['workers 1', 'settings 3'],
  )
  for (const [damage, mend, found] of [
    [
      "UPDATE settings SET value = '02' WHERE name = 'b'",
      "UPDATE settings SET value = '2' WHERE name = 'b'",
      /settings b: .* differs/,
    ],
    [
      'UPDATE workers SET lease_until = 9007199254740992',
      'UPDATE workers SET lease_until = 9007199254740993',
      /workers 1: .* differs/,
    ],
    ["DELETE FROM settings WHERE name = 'c'", "INSERT INTO settings VALUES ('c', '3')", /settings c: .* is missing/],
    ["INSERT INTO settings VALUES ('d', '4')", "DELETE FROM settings WHERE name = 'd'", /settings 4 rows instead of 3/],
  ] as const) {
    copy.exec(damage)
    await assert.rejects(compareRows(tables, source, target), found)
    copy.exec(mend)
  }
  assert.deepEqual(await compareRows(tables, source, target), digests)
})
