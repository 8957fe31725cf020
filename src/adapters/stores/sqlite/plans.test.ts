import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { openInMemory } from './connection.ts'
import { createReader, type Reader } from './reader.ts'

/** Tables that stay small. */
const SMALL = ['tally', 'schedules', 'marks', 'selections', 'settings']

test('P3: reads of a cycle, a start and a status use an index, so history does not slow them', async (t) => {
  const db = openInMemory()
  t.after(() => db.close())
  const { spied: recording, texts } = recordStatements(db)
  const reader = createReader(recording)
  const reads: ((reader: Reader) => Promise<unknown>)[] = [
    ...[(r: Reader) => r.dispatch('d'), (r: Reader) => r.counts(), (r: Reader) => r.recent('k', 'a', 12)],
    ...[(r: Reader) => r.dispatchesOf('c'), (r: Reader) => r.cycles('k', { limit: 5 }), (r: Reader) => r.session('s')],
    ...[(r: Reader) => r.journal('s'), (r: Reader) => r.inbox('s'), (r: Reader) => r.setting('paused')],
    ...[(r: Reader) => r.unknowns({ status: 'open' }), (r: Reader) => r.unknowns({ session_id: 's' })],
    (r) => r.approvals({ status: 'open', limit: 9 }),
    (r) => r.approvals({ session_id: 's', limit: 9 }),
    ...[(r: Reader) => r.document('k', 'STATE.md'), (r: Reader) => r.projection('k', 'STATE.md')],
    (r) => r.documentVersions({ kernel_id: 'k', name: 'STATE.md', limit: 9 }),
    ...[(r: Reader) => r.spend('2030-01-01', '2030-01-31'), (r: Reader) => r.workers(1), (r: Reader) => r.nextTimer()],
    ...[(r: Reader) => r.schedules(), (r: Reader) => r.marks(), (r: Reader) => r.selections()],
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
