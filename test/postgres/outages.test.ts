/** A kernel whose database is away, refuses or comes back: it waits and goes on by itself. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { startTireless, tireless, tirelessJson, waitForExit } from '../support/command-line.ts'
import { waitUntil } from '../support/open-app.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'
import { createSharedHome, startRole } from '../support/shared-homes.ts'

describe('a kernel without its database', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })

  const asSuperuser = async (database: string, sql: string): Promise<void> => {
    const client = new pg.Client(Object.assign(new URL(server.adminUrl), { pathname: new URL(database).pathname }).href)
    await client.connect()
    await client.query(sql).finally(() => client.end())
  }
  const isDone = (home: string, id: unknown) => async (): Promise<boolean> =>
    (await tirelessJson(home, 'queue', 'show', String(id))).status === 'done'

  test('E15: start waits for a database that is away, says so, and runs when it is there', async (t) => {
    const home = createSharedHome(t, await server.newDatabase(), 'early')
    await server.stop('fast')
    const stopped = startTireless(t, home, 'start')
    const waits = ({ errors }: typeof stopped) => /Waiting: the database cannot be reached.*ECONNREFUSED/.test(errors())
    await waitUntil(() => waits(stopped))
    stopped.kill('SIGTERM')
    assert.equal(await waitForExit(stopped), 0, stopped.errors())
    const early = startTireless(t, home, 'start')
    await waitUntil(() => waits(early))
    assert.equal(early.exitCode, null)
    const { exit } = await tireless(home, 'start', '--until-idle')
    assert.equal(exit, 75, 'the home is held')
    await server.start()
    await waitUntil(() => existsSync(join(home, 'socket')))
    const { dispatch_id } = await tirelessJson(home, 'enqueue', '--prompt', 'Run `true`.')
    await waitUntil(isDone(home, dispatch_id))
    early.kill('SIGTERM')
    assert.equal(await waitForExit(early), 0)
  })

  const wrong = {
    'a wrong password': {
      change: (url: URL) => Object.assign(url, { password: 'wrong' }),
      says: /refused the connection/,
    },
    'an unknown database': { change: (url: URL) => Object.assign(url, { pathname: '/none' }), says: /does not exist/ },
    'an unknown host': { change: (url: URL) => Object.assign(url, { hostname: 'no.invalid' }), says: /ENOTFOUND/ },
  }
  for (const [what, { change, says }] of Object.entries(wrong))
    test(`E15: start fails at once for ${what}`, async (t) => {
      const address = change(new URL(await server.newDatabase())).href
      const { exit, stderr } = await tireless(createSharedHome(t, address, 'wrong'), 'start')
      assert.equal(exit, 1)
      assert.match(stderr, says)
      assert.match(stderr, /do this: .*store/)
    })

  test('E15: a kernel that the database refuses waits, and goes on when it is accepted again', async (t) => {
    const database = await server.newDatabase()
    const home = createSharedHome(t, database, 'refused')
    const kernel = await startRole(t, home, 'all')
    const started = join(home, 'started')
    const task = `Run \`touch ${started}; sleep 1\`.`
    const { dispatch_id } = await tirelessJson(home, 'enqueue', '--prompt', task)
    await waitUntil(() => existsSync(started))
    await asSuperuser(database, 'REVOKE UPDATE ON dispatches FROM tireless')
    await waitUntil(() => /The kernel waits for its database/.test(kernel.process.errors()))
    await asSuperuser(database, 'GRANT UPDATE ON dispatches TO tireless')
    await waitUntil(isDone(home, dispatch_id))
    assert.match(kernel.process.errors(), /The database is back/)
  })

  test('E15: status, health and a stop answer at once while the database is away', async (t) => {
    const home = createSharedHome(t, await server.newDatabase(), 'away')
    const { process } = await startRole(t, home, 'all')
    const { page } = await tirelessJson<{ page: string }>(home, 'status')
    await server.stop('fast')
    const { exit, stderr } = await tireless(home, 'status')
    assert.deepEqual({ exit, says: /the database cannot be reached/.test(stderr) }, { exit: 1, says: true }, stderr)
    const health = await fetch(new URL('/healthz', page))
    assert.equal(health.status, 503)
    assert.match(await health.text(), /the database cannot be reached/)
    assert.equal(process.exitCode, null)
    await server.start()
    await waitUntil(async () => (await tireless(home, 'status')).exit === 0)
    await server.stop('fast')
    process.kill('SIGTERM')
    assert.equal(await waitForExit(process), 0, process.errors())
    assert.match(process.output(), /Stopped; the database is away/)
    await server.start()
  })
})
