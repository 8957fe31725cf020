import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { openPostgres, WITHOUT_POSTGRES } from '../../../../test/support/postgres.ts'
import type { Store } from '../../../ports/store.ts'
import { sharedStoreConformance, storeConformance } from '../../../testing/store-conformance.ts'
import { systemClock } from '../../system/clock.ts'
import { openPostgresStore } from './store.ts'

describe('postgres store', { skip: WITHOUT_POSTGRES }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })
  const url = await server.newDatabase()
  const open = (): Promise<Store> =>
    openPostgresStore({ url, clock: systemClock, writerId: randomUUID(), leases: 'given' })
  const admin = new pg.Client(Object.assign(new URL(server.adminUrl), { pathname: new URL(url).pathname }).href)
  admin.on('error', () => {})
  await admin.connect()
  after(() => admin.end())

  /** Faster than a database per case. Without triggers, which protect the journal and the audit log. */
  async function emptyTables(): Promise<void> {
    const { rows } = await admin.query(
      `SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('schema_version', 'writers')`,
    )
    const deletes = rows.map(({ tablename }) => `DELETE FROM ${tablename};`).join('')
    await admin.query(
      `SET session_replication_role = replica; ${deletes} INSERT INTO audit_head VALUES (0, '');
       SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S'`,
    )
  }

  // One store for all cases, because connecting takes longer than most of them; `close` has a case of its own.
  let store = await open()
  after(() => store.close())
  for (const { name, run } of [...sharedStoreConformance, ...storeConformance])
    test(name, async () => {
      await emptyTables()
      await run(store)
      if (name.startsWith('after close')) store = await open()
    })
})
