/**
 * The steps by which a home of an earlier schema comes to today's, oldest first. A step, once released, is never changed.
 *
 * To change the schema: raise SCHEMA_VERSION and change SCHEMA (schema.ts), add a file here that does the same to tables that have
 * rows, list it, and keep a home of the schema you leave: `node test/homes/keep-main.ts` on the commit before.
 */

import type { DatabaseSync } from 'node:sqlite'
import { SCHEMA, SCHEMA_VERSION } from '../schema.ts'
import { TO_6 } from './to-6.ts'

export interface Migration {
  /** From the schema just below it. */
  readonly to: number
  /**
   * Runs inside a transaction, with foreign keys off (they are checked once at the end), so that tables can be built anew. What a
   * trigger forbids is only possible with the trigger dropped and made again.
   */
  readonly apply: string | ((db: DatabaseSync) => void)
}

/** What a program expects of its database, and how it brings an older one there. */
export interface SchemaHistory {
  readonly version: number
  /** Makes all tables in an empty database. */
  readonly tables: string
  readonly migrations: readonly Migration[]
}

/** Schemas below this one were never released, and have no step. */
export const OLDEST_MIGRATED = 5

export const HISTORY: SchemaHistory = { version: SCHEMA_VERSION, tables: SCHEMA, migrations: [TO_6] }
