/**
 * Migrations from earlier schemas, oldest first. A released migration is never changed.
 *
 * To change the schema: raise SCHEMA_VERSION, change SCHEMA (schema.ts), add a migration file here and list it, and
 * keep a home of the old schema for tests: `node test/homes/keep-main.ts` on the commit before.
 */

import type { DatabaseSync } from 'node:sqlite'
import { SCHEMA, SCHEMA_VERSION } from '../schema.ts'
import { TO_6 } from './to-6.ts'
import { TO_7 } from './to-7.ts'
import { TO_8 } from './to-8.ts'
import { TO_9 } from './to-9.ts'
import { TO_10 } from './to-10.ts'
import { TO_11 } from './to-11.ts'

export interface Migration {
  /** The version after this migration, which starts from version `to - 1`. */
  readonly to: number
  /**
   * Runs inside a transaction with foreign keys off (checked at the end), so that tables can be rebuilt. To do what a
   * trigger forbids, drop the trigger and create it again. `roots`: where the home is and was.
   */
  readonly apply: string | ((db: DatabaseSync, roots: readonly string[]) => void)
}

/** The expected schema and the migrations to it. */
export interface SchemaHistory {
  readonly version: number
  /** SQL that creates all tables in an empty database. */
  readonly tables: string
  readonly migrations: readonly Migration[]
}

/** Older schemas were never released and have no migration. */
export const OLDEST_MIGRATED = 5

export const SCHEMA_HISTORY: SchemaHistory = {
  version: SCHEMA_VERSION,
  tables: SCHEMA,
  migrations: [TO_6, TO_7, TO_8, TO_9, TO_10, TO_11],
}
