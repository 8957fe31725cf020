/**
 * The schema of the database and its version. Migrations only add (columns with a default, tables, indexes), so that
 * workers of the version before go on beside newer ones. One process migrates at a time, under a lock.
 */

import { TirelessError } from '../../../domain/error.ts'
import type { PgConnection } from './connection.ts'
import { PG_SCHEMA } from './schema.ts'

/**
 * Homes of sessions: '' means that any worker may run it. The index replaces one without the home; workers of the
 * version before find their work without it, too.
 */
const HOMES_OF_SESSIONS = `ALTER TABLE sessions ADD COLUMN home TEXT COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN folder TEXT COLLATE "C";
  ALTER TABLE dispatches ADD COLUMN home TEXT COLLATE "C" NOT NULL DEFAULT '';
  CREATE INDEX dispatches_claimable ON dispatches (home, priority DESC, n) WHERE status = 'pending' AND paused = 0;
  DROP INDEX dispatches_pending;
  ALTER TABLE workers ADD COLUMN home TEXT COLLATE "C";
  CREATE INDEX workers_home ON workers (home) WHERE home IS NOT NULL;
  CREATE INDEX sessions_folder ON sessions (folder, n) WHERE folder IS NOT NULL AND home <> ''`

/** Each migration leads from the version before it; the first creates the tables. */
const MIGRATIONS: readonly string[] = [
  PG_SCHEMA,
  'ALTER TABLE workers ADD COLUMN about TEXT',
  // What is true of this database only, and stays here when the records are moved.
  'CREATE TABLE properties (name TEXT PRIMARY KEY, value TEXT NOT NULL)',
  HOMES_OF_SESSIONS,
]

const LOCK = 'SELECT pg_advisory_xact_lock(84737, 3)'

/** Contract: the database has the current schema afterwards; a newer one is refused, and nothing is changed. */
export async function migrateDatabase(
  connection: PgConnection,
  migrations: readonly string[] = MIGRATIONS,
): Promise<void> {
  const version = await readSchemaVersion(connection)
  checkVersion(version, migrations.length)
  if (version === migrations.length) return
  await connection.exec('BEGIN')
  try {
    await migrateInTransaction(connection, migrations)
    await connection.exec('COMMIT')
  } catch (thrown) {
    await connection.exec('ROLLBACK').catch(() => undefined)
    throw thrown
  }
}

/** Contract: as `migrateDatabase`, in the transaction of the caller; until its end, no other process migrates. */
export async function migrateInTransaction(
  connection: PgConnection,
  migrations: readonly string[] = MIGRATIONS,
): Promise<void> {
  await connection.exec(LOCK)
  // Another process may have migrated while this one waited.
  const current = await readSchemaVersion(connection)
  checkVersion(current, migrations.length)
  for (const migration of migrations.slice(current)) await connection.exec(migration)
  await connection.exec(
    `CREATE TABLE IF NOT EXISTS schema_version (n BIGINT NOT NULL);
     DELETE FROM schema_version; INSERT INTO schema_version VALUES (${migrations.length})`,
  )
}

async function readSchemaVersion(connection: PgConnection): Promise<number> {
  const [found] = await connection.exec("SELECT to_regclass('schema_version') IS NOT NULL AS exists")
  if (found?.exists !== 1) return 0
  return Number((await connection.exec('SELECT max(n) AS n FROM schema_version'))[0]?.n ?? 0)
}

function checkVersion(version: number, known: number): void {
  if (version > known)
    throw new TirelessError('store_unsupported', {
      what: 'the database belongs to a newer version of this program',
      got: `schema ${version}`,
      expected: `schema ${known} or older`,
      fix: 'upgrade this program, too',
    })
}
