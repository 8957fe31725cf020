/** The statements of docs/scale.md run on a real server, and its files are what it says. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import pg from 'pg'
import { parse } from 'yaml'
import { systemdUnit } from '../../src/adapters/installation/service-unit.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'

const docs = join(import.meta.dirname, '../../docs')
const page = readFileSync(join(docs, 'scale.md'), 'utf8')
const [prepare = '', watch = ''] = [...page.matchAll(/```sql\n(.*?)```/gs)].map(([, sql]) => sql ?? '')

it('the statements of docs/scale.md run; its role owns the database, and commits wait for the disk', {
  skip: WITHOUT_POSTGRES,
}, async (t) => {
  const server = await openPostgres(t)
  const run = async (url: string, statements: readonly string[]): Promise<pg.QueryResult[]> => {
    const client = new pg.Client(url)
    await client.connect()
    try {
      const results: pg.QueryResult[] = []
      for (const statement of statements) results.push(await client.query(statement))
      return results
    } finally {
      await client.end()
    }
  }
  const statementsOf = (sql: string) => sql.split(/;\n/).filter((statement) => statement.trim() !== '')
  await run(server.adminUrl, ['DROP ROLE tireless', ...statementsOf(prepare)])
  const url = Object.assign(new URL(server.adminUrl), { pathname: '/tireless' })
  assert.equal((await run(url.href, statementsOf(watch))).length, 7)
  Object.assign(url, { username: 'tireless', password: 'change-me' })
  const [, commit] = await run(url.href, ['CREATE TABLE own (id int)', 'SHOW synchronous_commit'])
  assert.deepEqual(commit?.rows, [{ synchronous_commit: 'on' }])
})

it('the systemd unit of docs/scale restarts and stops the kernel as that of `service install` does', () => {
  const kept = /^(Type|Restart\w*|StartLimit\w+|KillMode|TimeoutStopSec|Delegate)=.*$/gm
  const installed = systemdUnit({
    ...{ home: '/var/lib/tireless', program: ['/usr/bin/tireless'], configFile: undefined, path: '/usr/bin' },
    ...{ environmentFile: '/etc/tireless/tireless.env', drainMs: 30_000 },
  })
  const own = readFileSync(join(docs, 'scale/tireless.service'), 'utf8')
  assert.deepEqual(own.match(kept)?.toSorted(), installed.match(kept)?.toSorted())
})

it('the compose file of docs/scale keeps the data in a volume and offers the server to this machine only', () => {
  const { services, volumes } = parse(readFileSync(join(docs, 'scale/compose.yaml'), 'utf8'))
  assert.deepEqual(Object.keys(volumes), ['data'])
  assert.deepEqual(services.postgres.ports, ['127.0.0.1:5432:5432'])
})
