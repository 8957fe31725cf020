/** `store move`: the records of a home go to PostgreSQL and back, compared one by one; what fails changes nothing. */

import assert from 'node:assert/strict'
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { moveIntoPostgres, moveOutOfPostgres } from '../../src/adapters/stores/postgres/move-records.ts'
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { homeId } from '../../src/app/home-id.ts'
import { commitOne } from '../../src/ports/store.ts'
import { withDatabase } from '../homes/damage-rows.ts'
import { copyKeptHome } from '../homes/kept-homes.ts'
import { baseHome } from '../homes/unreadable-home.ts'
import { startKernelIn, tireless, tirelessJson, tirelessWith } from '../support/command-line.ts'
import { addOddRows, configOf, databaseOf, listsOf, moveStore, query, rowsOfHome } from '../support/moved-homes.ts'
import { freshFolder } from '../support/open-app.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'
import { createSharedHome, startRole } from '../support/shared-homes.ts'

/** Tables with paths or names of homes, which a store of several homes does not name as the home's own store does. */
const NAMED_DIFFERENTLY = new Set(['projections', 'sessions', 'labels', 'undos', 'outbox'])

describe('store move', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })

  function keptHome(t: TestContext, schema: number): string {
    const home = freshFolder(t)
    copyKeptHome(schema, home)
    return home
  }

  test('E15: every row of every table goes to PostgreSQL and comes back as it was', async (t) => {
    const home = await baseHome(t, 9)
    addOddRows(home)
    appendFileSync(join(home, 'tireless.yaml'), 'store: sqlite # where the records are\n')
    const [before, url] = [rowsOfHome(home), await server.newDatabase()]
    const into = await moveStore(home, url)
    assert.deepEqual(
      { exit: into.exit, action: into.action, from: into.from },
      { exit: 0, action: 'moved', from: 'sqlite' },
    )
    const count = Object.entries(before).reduce((sum, [table, rows]) => sum + (table === 'tally' ? 0 : rows.length), 0)
    assert.equal(into.records, count)
    assert.ok(
      into.tables.every(({ rows }) => rows > 0),
      `empty: ${JSON.stringify(into.tables.filter(({ rows }) => rows === 0))}`,
    )
    assert.equal(existsSync(databaseOf(home)), false)
    assert.equal(existsSync(into.kept ?? ''), true)
    assert.match(configOf(home), /^store: postgres:\/\/\S+ # where the records are$/m)
    // What the home knows of its document files is kept per home there.
    const files = await query(url, 'SELECT kernel_id FROM projections')
    assert.deepEqual([...new Set(files.map(({ kernel_id }) => kernel_id))], [`default ${homeId(home)}`])
    const back = await moveStore(home, 'sqlite')
    assert.deepEqual({ exit: back.exit, action: back.action, to: back.to }, { exit: 0, action: 'moved', to: 'sqlite' })
    assert.deepEqual(rowsOfHome(home), before)
    const isSameInBoth = ({ table }: { readonly table: string }): boolean => !NAMED_DIFFERENTLY.has(table)
    assert.deepEqual(back.tables.filter(isSameInBoth), into.tables.filter(isSameInBoth))
    assert.match(configOf(home), /^store: sqlite # where the records are$/m)
  })

  test('E15: no other home can take the sessions of a moved home, whose files stay with it', async (t) => {
    const home = freshFolder(t)
    await tirelessJson(home, 'enqueue', '--prompt', 'for later')
    const url = await server.newDatabase()
    assert.equal((await moveStore(home, url)).exit, 0)
    for (const table of ['sessions', 'dispatches'])
      assert.deepEqual(await query(url, `SELECT home FROM ${table}`), [{ home: homeId(home) }], table)
  })

  test('E15: a home of an older schema works on PostgreSQL as before, and after it came back', async (t) => {
    const home = keptHome(t, 5)
    const before = await listsOf(keptHome(t, 5))
    const url = await server.newDatabase()
    assert.equal((await moveStore(home, url)).exit, 0)
    assert.deepEqual(await listsOf(home), before)
    const queued = await tirelessJson(home, 'enqueue', '--prompt', 'later', '--at', '2099-01-01T00:00:00Z')
    const found = await tirelessJson<{ items: { key: string }[] }>(home, 'memory', 'search', 'blue')
    assert.deepEqual(
      found.items.map(({ key }) => key),
      ['sheep'],
    )
    assert.equal((await moveStore(home, 'sqlite')).exit, 0)
    assert.equal((await tirelessJson(home, 'queue', 'show', String(queued.dispatch_id))).status, 'waiting')
    assert.equal((await tirelessJson(home, 'audit', 'verify')).exit, 0)
  })

  test('E15: a variable is written as such; --check changes nothing; a repeated move does nothing', async (t) => {
    const home = keptHome(t, 9)
    const env = { ...process.env, MOVE_TO: await server.newDatabase() }
    const before = { config: configOf(home), database: readFileSync(databaseOf(home)) }
    const move = async (...more: string[]) => {
      const { exit, stdout } = await tirelessWith(env, home, 'store', 'move', `\${MOVE_TO}`, '--json', ...more)
      return { exit, ...JSON.parse(stdout) }
    }
    const checked = await move('--check')
    assert.deepEqual({ exit: checked.exit, action: checked.action }, { exit: 0, action: 'check' })
    assert.ok(checked.records > 20)
    assert.deepEqual({ config: configOf(home), database: readFileSync(databaseOf(home)) }, before)
    assert.deepEqual(await query(env.MOVE_TO, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'"), [])
    assert.equal((await move()).action, 'moved')
    assert.match(configOf(home), /^store: \$\{MOVE_TO\}$/m)
    assert.deepEqual(await move().then(({ exit, action }) => ({ exit, action })), { exit: 0, action: 'none' })
    const { exit, stderr } = await tireless(home, 'store', 'move', `\${MOVE_NOWHERE}`)
    assert.equal(exit, 1)
    assert.match(stderr, /MOVE_TO/)
  })

  const FAULTS: readonly (readonly [what: string, address: (url: URL) => string, exit: number, message: RegExp])[] = [
    ['no address', () => 'mysql://x', 2, /not an address of a store.*expected sqlite, postgres:/],
    ['a variable that is not set', () => `\${NO_SUCH_VARIABLE}`, 2, /NO_SUCH_VARIABLE, which is not set/],
    ['nothing there', (url) => Object.assign(url, { port: '1' }).href, 1, /cannot be reached/],
    [
      'a wrong password',
      (url) => Object.assign(url, { password: 'hunter2' }).href,
      1,
      /password authentication failed/,
    ],
    ['no such database', (url) => Object.assign(url, { pathname: '/none' }).href, 1, /"none" does not exist/],
  ]

  test('E15: a move that cannot be made says why, without the password, and the home works as before', async (t) => {
    const home = keptHome(t, 9)
    await tireless(home, 'status')
    const url = await server.newDatabase()
    const before = { config: configOf(home), rows: rowsOfHome(home) }
    const refused = async (to: string, message: RegExp, code = 1) => {
      const { exit, stderr } = await tireless(home, 'store', 'move', to)
      assert.equal(exit, code, stderr)
      assert.match(stderr, message)
      assert.doesNotMatch(stderr, /hunter2/)
      assert.doesNotMatch(stderr, new RegExp(new URL(url).password))
      assert.deepEqual({ config: configOf(home), rows: rowsOfHome(home) }, before)
    }
    for (const [, address, exit, message] of FAULTS) await refused(address(new URL(url)), message, exit)
    const used = await server.newDatabase()
    await tireless(createSharedHome(t, used, 'used'), 'enqueue', '--prompt', 'x')
    await refused(
      used,
      /has records already; the records were not moved.*got rows in .*dispatches.*create another database/,
    )
    const foreign = await server.newDatabase()
    const admin = Object.assign(new URL(server.adminUrl), { pathname: new URL(foreign).pathname })
    await query(admin.href, 'ALTER SCHEMA public OWNER TO postgres; REVOKE ALL ON SCHEMA public FROM PUBLIC')
    await query(admin.href, `ALTER DATABASE ${new URL(foreign).pathname.slice(1)} OWNER TO postgres`)
    await refused(foreign, /(no schema has been selected|permission denied).*rights of the user/s)
    await query(
      server.adminUrl,
      "CREATE DATABASE latin OWNER tireless TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'",
    )
    await refused(Object.assign(new URL(url), { pathname: '/latin' }).href, /encoding LATIN1.*expected UTF8/s)
    writeFileSync(join(home, 'restore.note'), '{}')
    await refused(url, /a restore of this home was interrupted.*run the same `tireless restore DIR` again/s)
    rmSync(join(home, 'restore.note'))
    const kernel = await startKernelIn(t, home)
    const { exit, stderr } = await tireless(home, 'store', 'move', url)
    assert.deepEqual({ exit, held: /another process holds the home/.test(stderr) }, { exit: 75, held: true })
    kernel.kill('SIGTERM')
  })

  test("E15: what PostgreSQL cannot store is named, and rows without their session are doctor's", async (t) => {
    const home = keptHome(t, 9)
    await tireless(home, 'enqueue', '--prompt', 'x', '--key', Array.from({ length: 9000 }, (_, i) => i % 7919).join(''))
    const long = await tireless(home, 'store', 'move', await server.newDatabase())
    assert.match(long.stderr, /dispatches \d+: PostgreSQL refuses a record.*got index row/)
    const broken = keptHome(t, 9)
    await tireless(broken, 'status')
    withDatabase(databaseOf(broken), (db) => db.exec("INSERT INTO inbox (session, id, body) VALUES (9999, 'x', '{}')"))
    const url = await server.newDatabase()
    assert.match((await tireless(broken, 'store', 'move', url)).stderr, /1 in inbox.*tireless doctor --fix/)
    await tireless(broken, 'doctor', '--fix')
    const { exit, tables } = await moveStore(broken, url)
    assert.deepEqual({ exit, aside: tables.find(({ table }) => table === 'set_aside')?.rows }, { exit: 0, aside: 1 })
  })

  test('E15: while others work on the database, it is not left; after it was left, they cannot commit', async (t) => {
    const home = keptHome(t, 9)
    const url = await server.newDatabase()
    await moveStore(home, url)
    const other = createSharedHome(t, url, 'other')
    const worker = await startRole(t, other, 'worker')
    const { exit, stderr } = await tireless(home, 'store', 'move', 'sqlite')
    assert.deepEqual(
      { exit, named: new RegExp(`process ${worker.process.pid}`).test(stderr) },
      { exit: 1, named: true },
      stderr,
    )
    assert.equal((await tireless(other, 'stop')).exit, 0)
    const open = await openPostgresStore({ url, clock: systemClock, writerId: 'other' })
    t.after(() => open.close())
    const note = (value: string) => commitOne(open, [{ op: 'set', name: 'note', value }])
    await note('before')
    for (const task of ['x', 'y']) await tireless(other, 'enqueue', '--prompt', task, '--workspace', freshFolder(t))
    const notes = [`the files of 2 sessions are in another home on ${hostname()}, and stay there`]
    assert.deepEqual((await moveStore(home, 'sqlite', '--check')).notes, notes)
    const moved = await moveStore(home, 'sqlite')
    assert.deepEqual({ exit: moved.exit, notes: moved.notes }, { exit: 0, notes })
    await assert.rejects(note('after'), /were moved/)
    const [row] = rowsOfHome(home).settings?.filter((text) => text.includes('"note"')) ?? []
    assert.match(row ?? '', /before/)
    const late = await tireless(other, 'status')
    assert.match(late.stderr, new RegExp(`were moved to the home ${home} on .*use another database`))
    const again = await tireless(home, 'store', 'move', url)
    assert.match(again.stderr, /were moved to the home/)
  })

  const moveBy = (home: string, url: string) => ({
    ...{
      url,
      isTrial: false,
      onCopied() {},
      convert: (_: unknown, row: readonly (string | number | bigint | null)[]) => row,
    },
    mark: { home: homeId(home), folder: home, host: 'here', at: '2026-01-01T00:00:00.000Z' },
  })

  test('E15: a move that was killed before the switch is started over; others wait for it', async (t) => {
    const home = keptHome(t, 9)
    await tireless(home, 'status')
    const url = await server.newDatabase()
    // What a kill leaves after the commit in PostgreSQL and before the switch.
    await moveIntoPostgres({ ...moveBy(home, url), file: databaseOf(home) })
    const other = createSharedHome(t, url, 'other')
    assert.match((await tireless(other, 'status')).stderr, /being moved into this database from the home .*again/)
    const queued = await tirelessJson(home, 'enqueue', '--prompt', 'since the kill')
    assert.equal((await moveStore(home, url)).exit, 0)
    assert.equal((await tirelessJson(home, 'queue', 'show', String(queued.dispatch_id))).exit, 0)
    assert.equal((await tireless(other, 'status')).exit, 0)
    // The same on the way back.
    await moveOutOfPostgres({ ...moveBy(home, url), file: join(home, 'tireless.db.moving') })
    assert.match((await tireless(other, 'status')).stderr, /were moved to the home/)
    assert.equal((await tirelessJson(home, 'enqueue', '--prompt', 'still in PostgreSQL')).exit, 0)
    assert.equal((await tireless(other, 'status')).exit, 0)
    assert.equal((await moveStore(home, 'sqlite')).exit, 0)
    assert.equal((await tirelessJson<{ queue: { pending: number } }>(home, 'status')).queue.pending >= 2, true)
  })

  test('E15: a move that was killed after the switch is completed by the next command', async (t) => {
    const home = keptHome(t, 9)
    await tireless(home, 'status')
    const url = await server.newDatabase()
    await moveIntoPostgres({ ...moveBy(home, url), file: databaseOf(home) })
    writeFileSync(join(home, 'tireless.yaml'), `${configOf(home)}store: ${url}\n`)
    assert.equal((await tireless(home, 'status')).exit, 0)
    assert.equal(existsSync(databaseOf(home)), false)
    assert.equal(readdirSync(home).filter((name) => /^tireless-before-move-.*\.db$/.test(name)).length, 1)
    assert.equal((await tireless(createSharedHome(t, url, 'other'), 'status')).exit, 0)
  })
})
