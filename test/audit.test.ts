/** A program that can write the database, but no other file of the home, cannot change the audit log unnoticed. */

import assert from 'node:assert/strict'
import { createHmac, hash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { openSqliteStore } from '../src/adapters/stores/sqlite/store.ts'
import { systemClock } from '../src/adapters/system/clock.ts'
import type { App } from '../src/app.ts'
import { commitOne } from '../src/ports/store.ts'
import { tirelessJson } from './support/command-line.ts'
import { freshFolder, openApp } from './support/open-app.ts'

interface Verified {
  readonly ok: boolean
  readonly records: number
  readonly keyed_since: number | null
  readonly broken: { readonly record: number; readonly why: string } | null
}

const verify = async (app: App): Promise<Verified> => await app.run('audit verify', {})
const firstBrokenRecord = async (app: App): Promise<number | undefined> => (await verify(app)).broken?.record
const appendRecord = (app: App, what: string) =>
  commitOne(app.context.store, [{ op: 'audit', entry: { ts: app.context.clock.now(), what } }])

interface Row {
  readonly n: number
  readonly body: string
  readonly hash: string
}

/** Opens the database as another program would while the home is in use. */
function openAsIntruder(t: TestContext, home: string) {
  const db = new DatabaseSync(join(home, 'tireless.db'))
  t.after(() => db.close())
  db.exec('DROP TRIGGER audit_update; DROP TRIGGER audit_delete')
  const rows = () => db.prepare('SELECT * FROM audit ORDER BY n').all() as unknown as Row[]
  const replaceRows = (all: readonly Row[]) => {
    db.exec('DELETE FROM audit')
    for (const { n, body, hash: rowHash } of all) db.prepare('INSERT INTO audit VALUES (?, ?, ?)').run(n, body, rowHash)
    db.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = 'audit'").run(all.length)
  }
  return { rows, put: replaceRows }
}

/** Changes the text of record `n` and recomputes the hash chain from record `from` on. */
function rewriteChain(rows: readonly Row[], n: number, hashOf: (text: string) => string, from = 1): Row[] {
  let before = rows[from - 2]?.hash ?? ''
  return rows.map((row) => {
    const body = row.n === n ? row.body.replace('"what":"', '"what":"not ') : row.body
    if (row.n < from) return { ...row, body }
    before = hashOf(`${before}\n${body}`)
    return { ...row, body, hash: before }
  })
}

const hashWithoutKey = (text: string): string => hash('sha256', text)
const hashWithGuessedKey = (text: string): string =>
  `hmac-sha256:${createHmac('sha256', 'guess').update(text).digest('hex')}`

async function homeWithThreeRecords(t: TestContext) {
  const home = freshFolder(t)
  const app = await openApp(t, { home })
  for (const what of ['one', 'two', 'three']) await appendRecord(app, what)
  assert.deepEqual((await verify(app)).broken, null)
  return { home, app, ...openAsIntruder(t, home) }
}

describe('audit: keyed, with its head outside the database', () => {
  test('verify names the first bad record of a chain rewritten without the key, or rewritten in part', async (t) => {
    const { app, rows, put: replaceRows } = await homeWithThreeRecords(t)
    const original = rows()
    for (const [n, hashOf, from, found] of [
      [1, hashWithoutKey, 1, 1],
      [3, hashWithoutKey, 1, 1],
      [2, hashWithGuessedKey, 1, 1],
      [3, hashWithoutKey, 3, 3],
      [2, (text: string) => text.slice(0, 0), 2, 2],
    ] as const) {
      replaceRows(rewriteChain(original, n, hashOf, from))
      assert.equal(await firstBrokenRecord(app), found, `record ${n} changed, chain rewritten from ${from}`)
    }
    replaceRows(original.with(1, { n: 2, body: original[2]?.body ?? '', hash: original[2]?.hash ?? '' }))
    assert.equal(await firstBrokenRecord(app), 2, 'a record was replaced by a copy of another')
    replaceRows(original)
    assert.equal((await verify(app)).ok, true)
  })

  test('verify names records deleted from the end, also after later writes and a restart', async (t) => {
    const { home, app, rows, put: replaceRows } = await homeWithThreeRecords(t)
    replaceRows(rows().slice(0, 1))
    assert.deepEqual((await verify(app)).broken, {
      record: 2,
      why: 'this record and all later ones, up to 3, are missing',
    })
    replaceRows([])
    assert.equal(await firstBrokenRecord(app), 1)
    for (const what of ['four', 'five', 'six', 'seven']) await appendRecord(app, what)
    assert.equal(await firstBrokenRecord(app), 3, 'the next records took the numbers of the deleted ones')
    await app.close()
    assert.equal(await firstBrokenRecord(await openApp(t, { home })), 3)
  })

  test('a home from before keys can be verified, and its old records cannot be rewritten unnoticed', async (t) => {
    const home = freshFolder(t)
    const fresh = await openApp(t, { home })
    await fresh.close()
    for (const file of ['audit.key', 'audit.head']) rmSync(join(home, file))
    const old = await openSqliteStore({ file: join(home, 'tireless.db'), clock: systemClock })
    for (const what of ['one', 'two']) await commitOne(old, [{ op: 'audit', entry: { ts: 1, what } }])
    await old.close()
    const app = await openApp(t, { home })
    const { rows, put: replaceRows } = openAsIntruder(t, home)
    assert.deepEqual(
      { ok: (await verify(app)).ok, keyed_since: (await verify(app)).keyed_since },
      { ok: true, keyed_since: 3 },
    )
    const unkeyed = rows()
    replaceRows(rewriteChain(unkeyed, 1, hashWithoutKey))
    assert.equal(await firstBrokenRecord(app), 2, 'the last unkeyed record has another hash')
    replaceRows(unkeyed)
    await appendRecord(app, 'three')
    assert.deepEqual({ ok: (await verify(app)).ok, records: (await verify(app)).records }, { ok: true, records: 3 })
    const [, , keyed] = rows()
    assert.ok(keyed)
    replaceRows([...rewriteChain(unkeyed, 1, hashWithoutKey), keyed])
    assert.equal(await firstBrokenRecord(app), 3, 'the first keyed record is bound to the hash of the last unkeyed one')
  })

  test('audit files are readable by the owner only; verify reports a missing one, a start creates it', async (t) => {
    const { home, app } = await homeWithThreeRecords(t)
    const [key, head] = [join(home, 'audit.key'), join(home, 'audit.head')]
    assert.deepEqual(
      [key, head].map((file) => statSync(file).mode & 0o777),
      [0o600, 0o600],
    )
    const savedKey = readFileSync(key)
    rmSync(key)
    assert.match((await verify(app)).broken?.why ?? '', /the key file audit\.key/)
    writeFileSync(key, savedKey, { mode: 0o600 })
    rmSync(head)
    assert.match((await verify(app)).broken?.why ?? '', /audit\.head is missing/)
    await app.close()
    const again = await openApp(t, { home })
    assert.equal((await verify(again)).ok, true)
    await again.close()
    rmSync(key)
    const another = await openApp(t, { home })
    await appendRecord(another, 'four')
    const { broken, keyed_since } = await verify(another)
    assert.deepEqual({ record: broken?.record, keyed_since }, { record: 1, keyed_since: 4 })
    assert.match(broken?.why ?? '', /made with another key/)
    await another.close()
    writeFileSync(key, 'nonsense')
    await assert.rejects(openApp(t, { home }), /audit\.key.*restore the file, or delete it/s)
  })

  test('a head that is behind after a crash is updated at the next start, and protects from then on', async (t) => {
    const { home, app, rows, put: replaceRows } = await homeWithThreeRecords(t)
    await app.close()
    const [, two] = rows()
    writeFileSync(join(home, 'audit.head'), JSON.stringify({ n: 2, hash: two?.hash }))
    const again = await openApp(t, { home })
    assert.equal((await verify(again)).ok, true)
    await again.close()
    replaceRows(rows().slice(0, 2))
    assert.equal(await firstBrokenRecord(await openApp(t, { home })), 3)
  })

  test('backup and restore: the log can be verified and continued, in the same home and in another', async (t) => {
    const { home, app } = await homeWithThreeRecords(t)
    const dir = freshFolder(t, 'backup')
    await app.run('backup', { dir })
    assert.deepEqual(
      ['audit.key', 'audit.head'].map((file) => existsSync(join(dir, file))),
      [true, false],
      'the head may be newer than the copy of the database',
    )
    await appendRecord(app, 'four')
    await app.close()
    for (const into of [home, freshFolder(t, 'elsewhere')]) {
      assert.equal((await tirelessJson(into, 'restore', dir)).exit, 0)
      const restored = await openApp(t, { home: into })
      assert.deepEqual(
        { ok: (await verify(restored)).ok, records: (await verify(restored)).records },
        { ok: true, records: 3 },
      )
      await appendRecord(restored, 'another four')
      assert.equal((await verify(restored)).ok, true)
      await restored.close()
    }
  })
})
