/** The life of a home on PostgreSQL: backup, restore, doctor, the audit log of several homes, and no secret there. */

import assert from 'node:assert/strict'
import { appendFileSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { MAIN, NODE_FLAGS, run } from '../crash/kills.ts'
import { createHome, startProvider, tireless, tirelessJson, tirelessWith } from '../support/command-line.ts'
import { assertNoSecretIn, homeWithSecrets, SECRETS } from '../support/home-with-secrets.ts'
import { configOf, dumpOf, moveStore, query } from '../support/moved-homes.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'
import { createSharedHome, startRole } from '../support/shared-homes.ts'

interface Verified {
  readonly exit: number | null
  readonly ok: boolean
  readonly records: number
  readonly by_other_homes: number
  readonly broken: { readonly record: number; readonly why: string } | null
}

interface Doctor {
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly found: string }[]
}

describe('the life of a home on PostgreSQL', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })
  const verify = (home: string) => tirelessJson<Omit<Verified, 'exit'>>(home, 'audit', 'verify')
  const work = (home: string) => tireless(home, 'run', '--behaviour', 'solo', 'Create a.md with the text "x".')

  async function homeOnPostgres(t: TestContext): Promise<{ home: string; url: string }> {
    const [home, url] = [
      await createHome(t, [{ text: 'one' }, { text: 'two' }, { text: 'three' }]),
      await server.newDatabase(),
    ]
    appendFileSync(join(home, 'tireless.yaml'), `store: ${url} # shared\n`)
    assert.equal((await tireless(home, 'run', 'say one')).exit, 0)
    return { home, url }
  }

  test('E15: a backup is restored as a home of its own; its records go back to PostgreSQL on request', async (t) => {
    const { home, url } = await homeOnPostgres(t)
    const dir = join(freshFolder(t), 'backup')
    assert.equal((await tireless(home, 'backup', dir)).exit, 0)
    await tireless(home, 'run', 'say two')
    const other = freshFolder(t, 'restored')
    for (const into of [other, home]) {
      const restored = await tirelessJson<{ notes: string[] }>(into, 'restore', dir)
      assert.equal(restored.exit, 0)
      assert.match(restored.notes.join('\n'), /now in the file tireless\.db.*\n.*tireless store move/)
      assert.match(configOf(into), /^store: sqlite # shared$/m)
      const { items } = await tirelessJson<{ items: { prompt: string }[] }>(into, 'queue', 'list')
      assert.deepEqual(
        items.map(({ prompt }) => prompt),
        ['say one'],
      )
      assert.equal((await verify(into)).exit, 0)
      assert.equal((await tirelessJson(into, 'doctor')).exit, 0)
    }
    assert.deepEqual(await query(url, 'SELECT prompt FROM dispatches ORDER BY n'), [
      { prompt: 'say one' },
      { prompt: 'say two' },
    ])
    const fresh = await server.newDatabase()
    assert.equal((await moveStore(home, fresh)).exit, 0)
    assert.equal((await tireless(home, 'run', 'say three')).exit, 0)
    const elsewhere = join(freshFolder(t), 'own.yaml')
    writeFileSync(elsewhere, `store: ${url}\n`)
    const refused = await tireless(home, 'restore', dir, '--config', elsewhere)
    assert.match(refused.stderr, /this configuration names PostgreSQL.*store: sqlite/)
  })

  test('E15: doctor knows PostgreSQL, and does not take the work of another process for orphaned', async (t) => {
    const url = await server.newDatabase()
    const [a, b] = [createSharedHome(t, url, 'a'), createSharedHome(t, url, 'b')]
    await startRole(t, a, 'worker')
    const file = join(freshFolder(t), 'started')
    await tirelessJson(b, 'enqueue', '--prompt', `Run \`touch ${file}; sleep 600\`.`)
    await waitUntil(() => existsSync(file))
    const { checks } = await tirelessJson<Doctor>(b, 'doctor')
    const found = Object.fromEntries(checks.map((check) => [check.name, check]))
    assert.match(found.durability?.found ?? '', /PostgreSQL/)
    assert.match(found.database?.found ?? '', /intact, in PostgreSQL/)
    assert.deepEqual({ ok: found['orphaned work']?.ok, rows: found['stored rows']?.ok }, { ok: true, rows: true })
    // A killed worker would leave the command behind.
    assert.equal((await tireless(a, 'stop', '--now')).exit, 0)
  })

  test('E15: several homes write one audit log; each verifies all of it, and names a changed record', async (t) => {
    const url = await server.newDatabase()
    const [a, b] = [createSharedHome(t, url, 'a'), createSharedHome(t, url, 'b')]
    for (const home of [a, b, a, b, b]) assert.equal((await work(home)).exit, 0)
    const [seenByA, seenByB] = [await verify(a), await verify(b)]
    assert.deepEqual([seenByA.ok, seenByB.ok], [true, true], JSON.stringify([seenByA, seenByB]))
    assert.ok(seenByA.by_other_homes >= 3 && seenByB.by_other_homes >= 2)
    assert.equal(seenByA.records, seenByA.by_other_homes + seenByB.by_other_homes)
    await query(url, 'ALTER TABLE audit DISABLE TRIGGER USER')
    const change = (n: number) =>
      query(url, `UPDATE audit SET body = replace(body, '"what":"', '"what":"not ') WHERE n = ${n}`)
    await change(2)
    for (const home of [a, b]) assert.equal((await verify(home)).broken?.record, 2)
    await query(url, `UPDATE audit SET body = replace(body, '"what":"not ', '"what":"') WHERE n = 2`)
    assert.equal((await verify(a)).ok, true)
    // With the key of the first home, the second verifies its records, too.
    copyFileSync(join(a, 'audit.key'), join(b, 'audit.key'))
    assert.equal((await verify(b)).by_other_homes, seenByA.by_other_homes)
    await query(url, `DELETE FROM audit WHERE n = ${seenByA.records}; UPDATE audit_head SET n = n - 1`)
    assert.match((await verify(b)).broken?.why ?? '', /missing/)
  })

  test('E15: after the records of several homes moved back into one, its audit log is still verified', async (t) => {
    const url = await server.newDatabase()
    const [a, b] = [createSharedHome(t, url, 'a'), createSharedHome(t, url, 'b')]
    for (const home of [a, b]) assert.equal((await work(home)).exit, 0)
    assert.equal((await moveStore(a, 'sqlite')).exit, 0)
    assert.equal((await work(a)).exit, 0)
    const verified = await verify(a)
    assert.deepEqual({ ok: verified.ok, others: verified.by_other_homes > 0 }, { ok: true, others: true })
  })

  test('E15: no secret of the home gets into the database, by a move or by work', async (t) => {
    const home = freshFolder(t)
    const token = 'token-of-the-page'.padEnd(40, '5')
    writeFileSync(join(home, 'token'), token, { mode: 0o600 })
    const secrets = [...Object.values(SECRETS), token].join(' ')
    const provider = await startProvider(t, [{ text: `noted ${secrets}` }, { text: `again ${secrets}` }])
    homeWithSecrets(home, provider.url)
    writeFileSync(join(home, 'tireless.yaml'), configOf(home).replace(/^channels: .*telegram.*$/m, ''))
    const url = await server.newDatabase()
    const stored = 'stored-secret-value-42'
    const set = ['-c', `printf %s ${stored} | "$@"`, 'sh', process.execPath, ...NODE_FLAGS, MAIN]
    await run('env', [`ONE_KEY=${SECRETS.fromVariable}`, 'sh', ...set, 'secrets', 'set', 'MINE', '--home', home])
    const env = { ...process.env, ONE_KEY: SECRETS.fromVariable }
    const inHome = async (...args: string[]) => {
      const { exit, stderr } = await tirelessWith(env, home, ...args)
      assert.equal(exit, 0, stderr)
    }
    await inHome('run', '--behaviour', 'solo', `Remember these: ${secrets} ${stored}`)
    await inHome('store', 'move', url)
    await inHome('run', '--behaviour', 'solo', `And again: ${secrets} ${stored} ${new URL(url).password}`)
    const dump = await dumpOf(url)
    assert.match(dump, /And again/)
    assertNoSecretIn(dump)
    const { key: auditKey } = JSON.parse(readFileSync(join(home, 'audit.key'), 'utf8'))
    for (const key of [token, stored, auditKey, new URL(url).password]) assert.equal(dump.includes(key), false, key)
  })
})
