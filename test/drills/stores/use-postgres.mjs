// Loaded by `--import` into every process of a test (`?server=` is the address of the superuser): a home whose
// tireless.yaml names no store uses a database of its own in PostgreSQL instead of a file. The same home gets the same
// database in every process. A home that has a database file, of a fixture or a restore, keeps it.
//
// Tests with a fake clock need two more changes: their clock waits for answers of the database as it waits for nothing
// else, and leases follow it. The conformance suite and the drill of the workers test leases by the database's clock.

import { createHash } from 'node:crypto'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { replaceCode } from '../replace-code.mjs'

const address = new URL(import.meta.url)
const server = address.searchParams.get('server')
const PREFIX = 'home_'
/**
 * By a fake clock. Long, because each renewal and each look for news takes real time, and so that these are no timers
 * which tests take for work that is due soon (`LONGEST_JUMP_MS`).
 */
const FAKE_LEASE_MS = 6 * 3_600_000
/** How long a fake clock waits for answers; a statement may wait for something that the clock has to bring about. */
const MAX_WAIT_MS = 3000

const drill = {
  hasFakeClock: false,
  /** Statements and connections that the database has not answered. */
  pending: 0,

  useDatabase(loaded, { root, database }) {
    if (loaded.sources.store !== 'default' || existsSync(database)) return loaded
    const { kernel } = loaded.config
    const lease = drill.hasFakeClock && loaded.sources['kernel.lease'] === 'default' ? FAKE_LEASE_MS : kernel.lease
    const changed = { store: addressOf(root), kernel: Object.freeze({ ...kernel, lease }) }
    return { ...loaded, config: Object.freeze({ ...loaded.config, ...changed }) }
  },

  /** Contract: the database exists and belongs to this home, not to an earlier one in the same place. */
  async prepareDatabase(root, url) {
    const name = new URL(url).pathname.slice(1)
    if (url !== addressOf(root)) return
    const { default: pg } = await import('pg')
    const client = new pg.Client(server)
    await client.connect()
    try {
      const { ino, birthtimeMs } = statSync(root)
      const owner = JSON.stringify({
        home: root,
        id: `${ino} ${birthtimeMs}`,
        folder: dirname(process.env.TMPDIR ?? '/'),
      })
      const found = await client.query(
        "SELECT shobj_description(oid, 'pg_database') AS owner FROM pg_database WHERE datname = $1",
        [name],
      )
      if (found.rows[0]?.owner === owner) return
      if (found.rows.length > 0) await client.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await client.query(`CREATE DATABASE ${name} OWNER tireless TEMPLATE tireless_template`)
      await client.query(`COMMENT ON DATABASE ${name} IS ${client.escapeLiteral(owner)}`)
    } finally {
      await client.end()
    }
  },

  /** Contract: waits until no answer of the database is due, also none to what the last one has led to. */
  async settle() {
    const from = performance.now()
    let quiet = 0
    while (quiet < 2 && performance.now() - from < MAX_WAIT_MS) {
      await setImmediate()
      quiet = drill.pending === 0 ? quiet + 1 : 0
    }
  },
}
globalThis.storesDrill = drill

function addressOf(root) {
  const path = existsSync(root) ? realpathSync(root) : root
  const url = new URL(server)
  url.username = 'tireless'
  url.pathname = PREFIX + createHash('sha256').update(path).digest('hex').slice(0, 24)
  return url.href
}

replaceCode([
  {
    file: '/src/app/config-service.ts',
    code: 'refuseBadSchedules(loaded)\n    return loaded',
    instead: 'refuseBadSchedules(loaded)\n    return globalThis.storesDrill.useDatabase(loaded, paths)',
  },
  {
    file: '/src/app/plugins/store.ts',
    code: 'return openPostgresStore({ url: address,',
    instead: `await globalThis.storesDrill.prepareDatabase(paths.root, address)
      const byFakeClock = globalThis.storesDrill.hasFakeClock ? { leases: 'given', pollMs: ${FAKE_LEASE_MS} } : {}
      return openPostgresStore({ ...byFakeClock, url: address,`,
  },
  {
    file: '/src/adapters/stores/postgres/connection.ts',
    code: "import pg from 'pg'",
    instead: `import pg from '${new URL('counted-pg.mjs', address).href}'`,
  },
  {
    file: '/src/testing/fake-clock.ts',
    code: "import { setImmediate as settled } from 'node:timers/promises'",
    instead: 'const settled = globalThis.storesDrill.settle',
  },
  {
    file: '/src/testing/fake-clock.ts',
    code: 'this.#wall = now\n',
    instead: 'this.#wall = now\n    globalThis.storesDrill.hasFakeClock = true\n',
  },
  {
    file: '/test/support/open-app.ts',
    code: 'const hasPendingWork = (): boolean =>',
    instead: 'const hasPendingWork = (): boolean => globalThis.storesDrill.pending > 0 ||',
  },
])
