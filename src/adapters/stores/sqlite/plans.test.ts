import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { openInMemory } from './connection.ts'
import { createStoreReader, type StoreReader } from './reader.ts'

/** Tables that stay small, and lists in parameters. */
const SMALL = ['json_each', 'tally', 'schedules', 'marks', 'selections', 'settings']

test('reads of a cycle, a start and a status use an index, so history does not slow them', async (t) => {
  const db = openInMemory()
  t.after(() => db.close())
  const { spied: recording, texts } = recordStatements(db)
  const reader = createStoreReader(recording)
  const reads: ((reader: StoreReader) => Promise<unknown>)[] = [
    ...[
      (r: StoreReader) => r.dispatch('d'),
      (r: StoreReader) => r.counts(),
      (r: StoreReader) => r.recent('k', 'a', 12),
    ],
    ...[
      (r: StoreReader) => r.dispatchesOf('c'),
      (r: StoreReader) => r.childrenOf('d'),
      (r: StoreReader) => r.cycles('k', { limit: 5 }),
      (r: StoreReader) => r.session('s'),
    ],
    ...[(r: StoreReader) => r.journal('s'), (r: StoreReader) => r.inbox('s'), (r: StoreReader) => r.setting('paused')],
    ...[(r: StoreReader) => r.unknowns({ status: 'open' }), (r: StoreReader) => r.unknowns({ session_id: 's' })],
    (r) => r.dispatchWindow({ offset: 0, limit: 9 }),
    (r) => r.dispatchesIn('s', { offset: 0, limit: 9 }),
    (r) => r.approvals({ status: 'open', limit: 9 }),
    (r) => r.approvals({ session_id: 's', limit: 9 }),
    ...[(r: StoreReader) => r.todos('s'), (r: StoreReader) => r.todo('s', 'T001')],
    ...[(r: StoreReader) => r.dueMessages(1), (r: StoreReader) => r.nextMessageDue(1)],
    (r) => r.todoReceipt('o'),
    ...[(r: StoreReader) => r.undo('u'), (r: StoreReader) => r.unfinishedUndos()],
    ...[(r: StoreReader) => r.document('k', 'STATE.md'), (r: StoreReader) => r.projection('k', 'STATE.md')],
    (r) => r.documentVersions({ kernel_id: 'k', name: 'STATE.md', limit: 9 }),
    ...[
      (r: StoreReader) => r.spend('2030-01-01', '2030-01-31'),
      (r: StoreReader) => r.spendSums({ from: '2030-01-01', to: '2030-01-31', by: 'agent' }),
      (r: StoreReader) => r.countCycles('k', 1),
      (r: StoreReader) => r.workers(1),
      (r: StoreReader) => r.nextTimer(),
    ],
    ...[(r: StoreReader) => r.schedules(), (r: StoreReader) => r.marks(), (r: StoreReader) => r.selections()],
  ]
  for (const read of reads) await read(reader)
  assert.ok(texts.size >= reads.length)
  for (const text of texts)
    for (const { detail } of db.prepare(`EXPLAIN QUERY PLAN ${text}`).all()) {
      const [, table = ''] = /^SCAN (?!.* USING )(\w+)/.exec(String(detail)) ?? []
      const tableName = new RegExp(`(\\w+) ${table}\\b`).exec(text)?.[1] ?? table
      const isChainWalk = ['', 'entry', 'e'].includes(table) || /subquery/i.test(String(detail))
      assert.ok(isChainWalk || SMALL.includes(table) || SMALL.includes(tableName), `${detail}: ${text}`)
    }
})

function recordStatements(db: DatabaseSync): { readonly spied: DatabaseSync; readonly texts: ReadonlySet<string> } {
  const texts = new Set<string>()
  const prepare = (text: string) => {
    texts.add(text)
    return db.prepare(text)
  }
  return { spied: { prepare, function: db.function.bind(db) } as unknown as DatabaseSync, texts }
}
