/** The PostgreSQL and the pooler that other tests use: they start, lose connections as told, and leave nothing. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { openPooler, WITHOUT_POOLER } from '../support/pooler.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'

async function connect(t: { after(hook: () => Promise<void>): void }, url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  // A lost connection is reported here too; the tests see it in their queries.
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.end().catch(() => {}))
  return client
}

const firstValue = async (client: pg.Client, sql: string): Promise<unknown> =>
  (await client.query({ text: sql, rowMode: 'array' })).rows[0]?.[0]

/** Every process that has the folder in its command line. */
const processesOf = (folder: string): readonly string[] =>
  globSync('/proc/[0-9]*/cmdline').filter((path) => contentOf(path).includes(folder))

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** The key of the server's block of shared memory. */
const memoryKeyOf = (folder: string): string =>
  contentOf(join(folder, 'data/postmaster.pid')).split('\n')[6]?.trim().split(' ')[0] ?? ''

const memoryKeys = (): readonly string[] =>
  contentOf('/proc/sysvipc/shm')
    .split('\n')
    .map((line) => line.trim().split(' ')[0] ?? '')

describe('the PostgreSQL of the tests', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after })

  it('gives each test an empty database whose user owns it and nothing else', async (t) => {
    const [first, second] = [await server.newDatabase(), await server.newDatabase()]
    await (await connect(t, first)).query('CREATE TABLE kept (id int)')
    const client = await connect(t, second)
    assert.equal(await firstValue(client, "SELECT to_regclass('kept')"), null)
    assert.equal(await firstValue(client, 'SHOW fsync'), 'on')
    assert.equal(await firstValue(client, "SELECT 'a' < 'B'"), true, 'text sorts by language, not by bytes')
    await assert.rejects(client.query('CREATE ROLE other'), /permission denied/)
  })

  it('is reached through its UNIX socket too', async (t) => {
    const client = await connect(t, server.overSocket(await server.newDatabase()))
    assert.equal(await firstValue(client, 'SELECT inet_server_addr()'), null)
  })

  for (const how of ['fast', 'immediate', 'kill'] as const)
    it(`restart (${how}) cuts open connections and keeps what was committed`, async (t) => {
      const url = await server.newDatabase()
      const client = await connect(t, url)
      await client.query('CREATE TABLE kept AS SELECT 7 AS id')
      await client.query('BEGIN; INSERT INTO kept VALUES (8)')
      await server.restart(how)
      await assert.rejects(client.query('COMMIT'))
      assert.equal(await firstValue(await connect(t, url), 'SELECT sum(id)::int FROM kept'), 7)
    })

  it('a pooler in transaction mode gives one connection to many clients', { skip: WITHOUT_POOLER }, async (t) => {
    const through = await openPooler(server, 1)
    const url = through(await server.newDatabase())
    const clients = [await connect(t, url), await connect(t, url)]
    const pids = await Promise.all(clients.map((client) => firstValue(client, 'SELECT pg_backend_pid()')))
    assert.equal(new Set(pids).size, 1)
  })
})

describe('after the tests', { skip: WITHOUT_POSTGRES }, () => {
  const MAIN = `
    import { openPostgres } from ${JSON.stringify(join(import.meta.dirname, '../support/postgres.ts'))}
    const closing = []
    const server = await openPostgres({ after: (hook) => closing.push(hook) })
    await new Promise((written) => process.stdout.write(server.folder + '\\n', written))
    process.stdin.once('data', async (word) => {
      if (String(word) === 'kill the server') await server.stop('kill')
      for (const hook of closing) await hook()
      process.exit(0)
    })`
  const endings = {
    'the end of the test': (child: ReturnType<typeof spawn>) => child.stdin?.write('end'),
    'a kill of the server': (child: ReturnType<typeof spawn>) => child.stdin?.write('kill the server'),
    'a kill of the test process': (child: ReturnType<typeof spawn>) => child.kill('SIGKILL'),
  }
  for (const [name, end] of Object.entries(endings))
    it(`${name} leaves no process, no folder and no shared memory`, async (t) => {
      const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', MAIN], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      t.after(() => child.kill('SIGKILL'))
      const folder = String((await once(child.stdout, 'data'))[0]).trim()
      assert.ok(processesOf(folder).length > 0, 'the server runs')
      const memory = memoryKeyOf(folder)
      assert.ok(memoryKeys().includes(memory), memory)
      end(child)
      await once(child, 'exit')
      if (name !== 'a kill of the test process') assert.equal(existsSync(folder), false)
      while (existsSync(folder)) await setTimeout(20)
      assert.deepEqual(processesOf(folder), [])
      assert.ok(!memoryKeys().includes(memory), memory)
    })
})
