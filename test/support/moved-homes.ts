/** Homes whose records are moved between SQLite and PostgreSQL, and what their databases hold. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { rowsIn, withDatabase } from '../homes/damage-rows.ts'
import { tirelessJson } from './command-line.ts'

export interface MoveOutput {
  readonly exit: number | null
  readonly action: string
  readonly from: string
  readonly to: string
  readonly records: number
  readonly tables: readonly { readonly table: string; readonly rows: number; readonly sha256: string }[]
  readonly kept: string | null
  readonly notes: readonly string[]
}

export const moveStore = (home: string, to: string, ...more: string[]): Promise<MoveOutput> =>
  tirelessJson<Omit<MoveOutput, 'exit'>>(home, 'store', 'move', to, ...more)

export const databaseOf = (home: string): string => join(home, 'tireless.db')
export const configOf = (home: string): string => readFileSync(join(home, 'tireless.yaml'), 'utf8')

/** Rows that are hard to copy: NUL, the character that escapes it, integers beyond 2^53, other scripts, long texts. */
const ODD_ROWS = `
INSERT INTO settings VALUES ('odd' || char(0) || 'name', '"a' || char(0) || 'b' || char(57344) || '0' || '"'),
  ('中文', '"你好，世界 🔑"'), ('quotes', '"\\"it''s\\" \\\\ {NULL,\\"x\\"}"');
INSERT INTO labels VALUES ('', 'untrusted', 0), ('NULL', 'trusted', 0);
INSERT INTO spend VALUES ('2026-01-02', 'default', '代理', 'm', 4611686018427387904, 0, 9007199254740993, 0, 0, -1);
INSERT INTO facts (id, agent_id, key, text, session_id, turn, trust, private, status, created_at)
  VALUES ('unreadable', 'default', 'k', 'the weather in Rome', 's', 1, 'no such trust', 0, 'known', 5);
INSERT INTO set_aside (source, why, body, at) VALUES ('inbox', 'unreadable', '{"damaged', 1);
INSERT INTO documents (kernel_id, name, version, sha256, bytes, author, reason, ts, text)
  VALUES ('default', 'LONG.md', 1, 's', 1, 'owner', '', 1, hex(randomblob(1500000))),
    ('default', 'LONG.md', 2, 's', 1, 'owner', '', 1, hex(randomblob(1500000))),
    ('default', 'LONG.md', 3, 's', 1, 'owner', '', 1, '长' || hex(randomblob(500000)));
UPDATE sqlite_sequence SET seq = seq + 7 WHERE name = 'workers';
`

export const addOddRows = (home: string): void => withDatabase(databaseOf(home), (db) => db.exec(ODD_ROWS))

/** Every row of every table of the SQLite database, as text, without counts of nothing. */
export const rowsOfHome = (home: string): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    [...rowsIn(databaseOf(home))].map(([table, rows]) => [
      table,
      [...rows.values()].filter((row) => table !== 'tally' || !row.endsWith('"n":0}')).toSorted(),
    ]),
  )

const LISTS = [
  ...['queue list --limit 99', 'sessions list --all', 'approvals list', 'unknowns list', 'memory list', 'todo list'],
  ...['cycles list', 'grants list', 'notices list', 'schedule list', 'budget spend', 'state show', 'audit verify'],
]

/** Contract: what commands say about the work of the home, without its path. */
export async function listsOf(home: string): Promise<Record<string, string>> {
  const lists: Record<string, string> = {}
  for (const words of LISTS) {
    const output = await tirelessJson(home, ...words.split(' '))
    assert.equal(output.exit, 0, `${words}: ${JSON.stringify(output)}`)
    lists[words] = JSON.stringify(output).replaceAll(home, '')
  }
  return lists
}

export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** Contract: all that the database holds, as text: every row of every table, and the names and texts of its parts. */
export async function dumpOf(url: string): Promise<string> {
  const tables = await query(url, "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'")
  const rows = await Promise.all(tables.map(({ name }) => query(url, `SELECT t::text AS row FROM "${name}" t`)))
  const routines = await query(url, "SELECT prosrc AS row FROM pg_proc WHERE pronamespace = 'public'::regnamespace")
  return [...rows.flat(), ...routines].map(({ row }) => String(row)).join('\n')
}
