/** Whoever can write the database, and nothing else of the home, changes nothing of the audit log unnoticed. */

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

const verify = async (app: App): Promise<Verified> => (await app.run('audit verify', {})) as Verified
const named = async (app: App): Promise<number | undefined> => (await verify(app)).broken?.record
const record = (app: App, what: string) =>
  commitOne(app.context.store, [{ op: 'audit', entry: { ts: app.context.clock.now(), what } }])

interface Row {
  readonly n: number
  readonly body: string
  readonly hash: string
}

/** Another program with the database open, as it is while the home is in use. */
function intruder(t: TestContext, home: string) {
  const db = new DatabaseSync(join(home, 'tireless.db'))
  t.after(() => db.close())
  db.exec('DROP TRIGGER audit_update; DROP TRIGGER audit_delete')
  const rows = () => db.prepare('SELECT * FROM audit ORDER BY n').all() as unknown as Row[]
  const put = (all: readonly Row[]) => {
    db.exec('DELETE FROM audit')
    for (const { n, body, hash: hashed } of all) db.prepare('INSERT INTO audit VALUES (?, ?, ?)').run(n, body, hashed)
    db.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = 'audit'").run(all.length)
  }
  return { rows, put }
}

/** The chain written anew with other words in record `n`. */
function rewritten(rows: readonly Row[], n: number, hashOf: (text: string) => string, from = 1): Row[] {
  let before = rows[from - 2]?.hash ?? ''
  return rows.map((row) => {
    const body = row.n === n ? row.body.replace('"what":"', '"what":"not ') : row.body
    if (row.n < from) return { ...row, body }
    before = hashOf(`${before}\n${body}`)
    return { ...row, body, hash: before }
  })
}

const plainly = (text: string): string => hash('sha256', text)
const withOwnKey = (text: string): string => `hmac-sha256:${createHmac('sha256', 'guess').update(text).digest('hex')}`

async function threeRecords(t: TestContext) {
  const home = freshFolder(t)
  const app = await openApp(t, { home })
  for (const what of ['one', 'two', 'three']) await record(app, what)
  assert.deepEqual((await verify(app)).broken, null)
  return { home, app, ...intruder(t, home) }
}

describe('audit: keyed, with its head outside of the database', () => {
  test('a chain that was written anew as a whole is named, with a plain hash, with a key that was guessed, and in part', async (t) => {
    const { app, rows, put } = await threeRecords(t)
    const whole = rows()
    for (const [n, hashOf, from, found] of [
      [1, plainly, 1, 1],
      [3, plainly, 1, 1],
      [2, withOwnKey, 1, 1],
      [3, plainly, 3, 3],
      [2, (text: string) => text.slice(0, 0), 2, 2],
    ] as const) {
      put(rewritten(whole, n, hashOf, from))
      assert.equal(await named(app), found, `record ${n} changed, written anew from ${from}`)
    }
    put(whole.with(1, { n: 2, body: whole[2]?.body ?? '', hash: whole[2]?.hash ?? '' }))
    assert.equal(await named(app), 2, 'a record in the place of another')
    put(whole)
    assert.equal((await verify(app)).ok, true)
  })

  test('records taken from the end are named, also after others were written, and after the next start', async (t) => {
    const { home, app, rows, put } = await threeRecords(t)
    put(rows().slice(0, 1))
    assert.deepEqual((await verify(app)).broken, {
      record: 2,
      why: 'this record and all later ones, up to 3, are missing',
    })
    put([])
    assert.equal(await named(app), 1)
    for (const what of ['four', 'five', 'six', 'seven']) await record(app, what)
    assert.equal(await named(app), 3, 'others stand in their place by now')
    await app.close()
    assert.equal(await named(await openApp(t, { home })), 3)
  })

  test('a home from before keys stays verifiable, and its old records cannot be written anew either', async (t) => {
    const home = freshFolder(t)
    const fresh = await openApp(t, { home })
    await fresh.close()
    for (const file of ['audit.key', 'audit.head']) rmSync(join(home, file))
    const old = await openSqliteStore({ file: join(home, 'tireless.db'), clock: systemClock })
    for (const what of ['one', 'two']) await commitOne(old, [{ op: 'audit', entry: { ts: 1, what } }])
    await old.close()
    const app = await openApp(t, { home })
    const { rows, put } = intruder(t, home)
    assert.deepEqual([(await verify(app)).ok, (await verify(app)).keyed_since], [true, 3])
    const plain = rows()
    put(rewritten(plain, 1, plainly))
    assert.equal(await named(app), 2, 'the last one is not what it was')
    put(plain)
    await record(app, 'three')
    assert.deepEqual([(await verify(app)).ok, (await verify(app)).records], [true, 3])
    const [, , keyed] = rows()
    assert.ok(keyed)
    put([...rewritten(plain, 1, plainly), keyed])
    assert.equal(await named(app), 3, 'the first keyed record is bound to the old head')
  })

  test('the files are the owner’s alone; where one is missing, verify says so, and the next start makes another', async (t) => {
    const { home, app } = await threeRecords(t)
    const [key, head] = [join(home, 'audit.key'), join(home, 'audit.head')]
    assert.deepEqual(
      [key, head].map((file) => statSync(file).mode & 0o777),
      [0o600, 0o600],
    )
    const kept = readFileSync(key)
    rmSync(key)
    assert.match((await verify(app)).broken?.why ?? '', /the key file audit\.key/)
    writeFileSync(key, kept, { mode: 0o600 })
    rmSync(head)
    assert.match((await verify(app)).broken?.why ?? '', /audit\.head is missing/)
    await app.close()
    const again = await openApp(t, { home })
    assert.equal((await verify(again)).ok, true)
    await again.close()
    rmSync(key)
    const another = await openApp(t, { home })
    await record(another, 'four')
    const { broken, keyed_since } = await verify(another)
    assert.deepEqual([broken?.record, keyed_since], [1, 4])
    assert.match(broken?.why ?? '', /made with another key/)
    await another.close()
    writeFileSync(key, 'nonsense')
    await assert.rejects(openApp(t, { home }), /audit\.key.*restore the file, or delete it/s)
  })

  test('a head that a crash has left behind is brought forward at the next start, and holds from there', async (t) => {
    const { home, app, rows, put } = await threeRecords(t)
    await app.close()
    const [, two] = rows()
    writeFileSync(join(home, 'audit.head'), JSON.stringify({ n: 2, hash: two?.hash }))
    const again = await openApp(t, { home })
    assert.equal((await verify(again)).ok, true)
    await again.close()
    put(rows().slice(0, 2))
    assert.equal(await named(await openApp(t, { home })), 3)
  })

  test('backup and restore: in the same home and in another one the log can be verified, and goes on', async (t) => {
    const { home, app } = await threeRecords(t)
    const dir = freshFolder(t, 'backup')
    await app.run('backup', { dir })
    assert.deepEqual(
      ['audit.key', 'audit.head'].map((file) => existsSync(join(dir, file))),
      [true, false],
      'the head may be newer than the copy of the database',
    )
    await record(app, 'four')
    await app.close()
    for (const into of [home, freshFolder(t, 'elsewhere')]) {
      assert.equal((await tirelessJson(into, 'restore', dir)).exit, 0)
      const restored = await openApp(t, { home: into })
      assert.deepEqual([(await verify(restored)).ok, (await verify(restored)).records], [true, 3])
      await record(restored, 'another four')
      assert.equal((await verify(restored)).ok, true)
      await restored.close()
    }
  })
})
