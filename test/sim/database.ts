/**
 * The world's disk. Creating tables and preparing statements takes longer than many worlds, so one database serves all
 * worlds of a thread. Each world runs inside a transaction that is rolled back at its end.
 */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { openInMemory } from '../../src/adapters/stores/sqlite/connection.ts'

/** The writer's own transactions become savepoints inside the world's transaction. */
const NESTED: Readonly<Record<string, string>> = { 'BEGIN IMMEDIATE': 'SAVEPOINT written', COMMIT: 'RELEASE written' }

const idleDatabases: DatabaseSync[] = []

/** Contract: returns an empty database; the caller closes it. */
export function openEmptyDatabase(): DatabaseSync {
  const db = idleDatabases.pop() ?? withCachedStatements(openInMemory())
  db.exec('BEGIN')
  return db
}

function withCachedStatements(real: DatabaseSync): DatabaseSync {
  const statements = new Map<string, StatementSync>()
  const functions = new Set<string>()
  const kept: Pick<DatabaseSync, 'prepare' | 'exec' | 'close'> & { function: unknown } = {
    // Registered once: registering a function again makes SQLite prepare every statement again.
    function(name: string, ...made: never) {
      if (!functions.has(name)) (real.function as (name: string, ...made: never) => void)(name, ...made)
      functions.add(name)
    },
    prepare(text) {
      const known = statements.get(text) ?? real.prepare(NESTED[text] ?? text)
      statements.set(text, known)
      return known
    },
    exec: (text) => real.exec(text),
    close() {
      real.exec('ROLLBACK')
      idleDatabases.push(kept as unknown as DatabaseSync)
    },
  }
  return kept as unknown as DatabaseSync
}
