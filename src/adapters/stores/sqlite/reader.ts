/** All reads of the store, through a separate read-only connection. */

import type { DatabaseSync } from 'node:sqlite'
import type { UnreadableRow } from '../../../domain/unreadable-row.ts'
import { iso } from '../../../ports/clock.ts'
import type { Store } from '../../../ports/store.ts'
import { addReadableFunctions } from './readable-functions.ts'
import { cycleReads } from './reads/cycles.ts'
import { documentReads } from './reads/documents.ts'
import { needReads } from './reads/needs.ts'
import { outboxReads } from './reads/outbox.ts'
import { permissionReads } from './reads/permissions.ts'
import { queueReads } from './reads/queue.ts'
import { createRowReader, type RowReader } from './reads/row-reader.ts'
import { sessionReads } from './reads/sessions.ts'
import { spendingReads } from './reads/spending.ts'
import { todoReads } from './reads/todos.ts'
import { undoReads } from './reads/undos.ts'

export type StoreReader = Omit<Store, 'commit' | 'commits' | 'verify' | 'unreadable' | 'skipped' | 'backup' | 'close'>

/** `onSkipped`: called for each unreadable row that a list leaves out, at every read. */
export function createStoreReader(db: DatabaseSync, onSkipped?: (row: UnreadableRow) => void): StoreReader {
  addReadableFunctions(db, onSkipped)
  const rows = createRowReader(db)
  return {
    ...queueReads(rows),
    ...sessionReads(rows),
    ...cycleReads(rows),
    ...permissionReads(rows),
    ...spendingReads(rows),
    ...documentReads(rows),
    ...outboxReads(rows),
    ...todoReads(rows),
    ...undoReads(rows),
    ...needReads(rows),
    ...setAsideReads(rows),
  }
}

function setAsideReads({ all }: RowReader): Pick<Store, 'setAside'> {
  return {
    async setAside({ limit }) {
      const rows = all('SELECT * FROM set_aside ORDER BY n DESC LIMIT ?', limit)
      return rows.map(({ n, source, why, body, at }) => ({
        ...{ n: Number(n), source: String(source), why: String(why), body: String(body), at: iso(Number(at)) },
      }))
    },
  }
}
