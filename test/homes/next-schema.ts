/** A future schema: one table that others refer to is rebuilt, one gets a new column, and one is new. */

import { SCHEMA_HISTORY, type SchemaHistory } from '../../src/adapters/stores/sqlite/migrations/list.ts'
import { SCHEMA, SCHEMA_VERSION } from '../../src/adapters/stores/sqlite/schema.ts'

const WORKERS_TABLE = `CREATE TABLE workers (
  epoch INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  host TEXT NOT NULL,
  joined_at INTEGER NOT NULL,
  lease_until INTEGER NOT NULL,
  left_at INTEGER
) STRICT;
`
const WORKERS_INDEX = 'CREATE INDEX workers_alive ON workers (epoch) WHERE left_at IS NULL;\n'
const NOTES = 'CREATE TABLE notes (n INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;\n'

function changed(text: string, from: string | RegExp, to: string): string {
  const created = text.replace(from, to)
  if (created === text) throw new Error(`the schema no longer contains ${from}: adapt the future schema`)
  return created
}

const OLD_WORKERS = /CREATE TABLE workers[^;]*;\s*CREATE INDEX workers_alive[^;]*;\n/

export const NEXT: SchemaHistory = {
  version: SCHEMA_VERSION + 2,
  tables: changed(
    changed(SCHEMA, OLD_WORKERS, WORKERS_TABLE + WORKERS_INDEX),
    /(CREATE TABLE labels [^;]*private INTEGER NOT NULL)/,
    '$1, since INTEGER NOT NULL DEFAULT 0',
  ).concat(NOTES),
  migrations: [
    ...SCHEMA_HISTORY.migrations,
    {
      to: SCHEMA_VERSION + 1,
      apply(db) {
        // The old table is not renamed: references to it would follow the new name.
        db.exec(WORKERS_TABLE.replace('workers', 'new_workers'))
        db.exec(`INSERT INTO new_workers SELECT epoch, name, 'here', joined_at, lease_until, left_at FROM workers;
                 DROP TABLE workers; ALTER TABLE new_workers RENAME TO workers; ${WORKERS_INDEX}`)
      },
    },
    { to: SCHEMA_VERSION + 2, apply: `ALTER TABLE labels ADD COLUMN since INTEGER NOT NULL DEFAULT 0; ${NOTES}` },
  ],
}

/** The same migration with a second step that fails. */
export const BROKEN: SchemaHistory = {
  ...NEXT,
  migrations: NEXT.migrations.map((step) =>
    step.to === NEXT.version ? { ...step, apply: `${step.apply} INSERT INTO notes VALUES (1, NULL)` } : step,
  ),
}
