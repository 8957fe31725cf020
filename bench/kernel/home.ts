/** The measured home: a kernel with two agents, a model that answers at once, and a history of any length. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type App, createApp, defineTool, type Model } from 'tireless'
import { z } from 'zod'

const AGENTS = ['watcher', 'reporter'] as const

const USAGE = { input_tokens: 900, output_tokens: 40, cached_tokens: 0 }
const ANSWER = 'Looked at everything there is: two files have changed since the last time, and both of them are noted.'

const note = defineTool({
  name: 'note',
  description: 'Notes a text.',
  args: z.object({ text: z.string() }),
  effect: () => ({ recovery: 'idempotent', reach: 'none' }),
  run: async ({ text }) => ({ status: 'ok', content: `noted: ${text}` }),
})

/** One tool call, then the answer. */
const model: Model = {
  id: 'bench/instant',
  async call({ messages }) {
    if (messages.at(-1)?.role === 'tool') return { text: ANSWER, calls: [], finish: 'stop', usage: USAGE }
    const call = { id: 'call-1', tool: note.name, args: JSON.stringify({ text: 'two files have changed' }) }
    return { text: '', calls: [call], finish: 'calls', usage: USAGE }
  },
}

export const openHome = (home: string): Promise<App> => createApp({ home, model, tools: [note] })

export async function cycle({ context }: App): Promise<void> {
  const { result } = await context.kernel.runOneCycle(context.signals.drain)
  if (result.succeeded !== AGENTS.length) throw new Error(`a cycle failed: ${JSON.stringify(result)}`)
}

/**
 * The only beat is far away and missed beats are skipped, so cycles run only on request. `port`: of the HTTP server.
 */
export function configure(home: string, port: number): void {
  const agents = AGENTS.map((name) => `    - { agent_id: ${name}, prompt: "Look at what is new and note it." }\n`)
  const kernel = `kernel:\n  schedule: "0 4 29 2 *"\n  missed: skip\n  agents:\n${agents.join('')}`
  writeFileSync(join(home, 'tireless.yaml'), `server: { port: ${port} }\n${kernel}`)
}

/** Contract: a closed home with at least `finished` finished dispatches: the records of one real cycle, copied. */
export async function makeHome(home: string, finished: number): Promise<{ readonly bytes: number }> {
  mkdirSync(home, { recursive: true })
  configure(home, 0)
  const app = await openHome(home)
  try {
    await cycle(app)
  } finally {
    await app.close()
  }
  return repeatPast(join(home, 'tireless.db'), finished)
}

/** Columns that change in copies: `numbers` get an offset, `words` a suffix. All other columns are copied unchanged. */
const COPIED = {
  cycles: { numbers: { n: 'cycles' }, words: ['cycle_id'] },
  sessions: { numbers: { n: 'sessions', last: 'journal' }, words: ['session_id'] },
  journal: { numbers: { n: 'journal', prev: 'journal', session: 'sessions' }, words: [] },
  dispatches: { numbers: { n: 'dispatches', session: 'sessions' }, words: ['dispatch_id', 'cycle_id', 'key'] },
} as const satisfies Record<string, { numbers: Record<string, string>; words: readonly string[] }>

const CHUNK = 20_000

function repeatPast(file: string, finished: number): { readonly bytes: number } {
  const db = new DatabaseSync(file)
  try {
    // Durability is not needed: an interrupted fill is discarded.
    db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000')
    const sizes = Object.fromEntries(
      Object.keys(COPIED).map((table) => [table, Number(db.prepare(`SELECT max(n) AS n FROM ${table}`).get()?.n)]),
    )
    const copies = Math.ceil(finished / AGENTS.length) - 1
    for (let from = 1; from <= copies; from += CHUNK) {
      db.exec('BEGIN')
      const to = Math.min(copies, from + CHUNK - 1)
      for (const table of Object.keys(COPIED) as (keyof typeof COPIED)[])
        db.exec(copySql(db, table, sizes, { from, to, copies }))
      db.exec('COMMIT')
    }
    addRelatedRows(db, copies)
    db.exec('PRAGMA journal_mode = WAL')
    const pages = Number(db.prepare('PRAGMA page_count').get()?.page_count)
    return { bytes: pages * Number(db.prepare('PRAGMA page_size').get()?.page_size) }
  } finally {
    db.close()
  }
}

/** Each copy is one minute older than the next one. */
function copySql(
  db: DatabaseSync,
  table: keyof typeof COPIED,
  sizes: Readonly<Record<string, number>>,
  { from, to, copies }: { readonly from: number; readonly to: number; readonly copies: number },
): string {
  const numbers: Readonly<Record<string, string>> = COPIED[table].numbers
  const words: readonly string[] = COPIED[table].words
  const columns = db
    .prepare(`PRAGMA table_info(${table})`)
    .all()
    .map(({ name }) => String(name))
  const copied = (name: string): string => {
    const counted = numbers[name]
    if (counted !== undefined) return `t.${name} + k * ${sizes[counted]}`
    if (words.includes(name)) return `t.${name} || printf('-%08d', k)`
    return /_at$/.test(name) ? `t.${name} - (${copies} - k) * 60000` : `t.${name}`
  }
  return `WITH RECURSIVE copy (k) AS (SELECT ${from} UNION ALL SELECT k + 1 FROM copy WHERE k < ${to})
    INSERT INTO ${table} (${columns.join(', ')})
    SELECT ${columns.map(copied).join(', ')} FROM copy CROSS JOIN ${table} t
    WHERE t.n <= ${sizes[table]} ORDER BY k, t.n`
}

/** Adds the other rows of a long history: worker starts, spending, approvals, unknown outcomes, document versions. */
function addRelatedRows(db: DatabaseSync, copies: number): void {
  const many = Math.ceil(copies / 500)
  const series = (n: number): string =>
    `WITH RECURSIVE copy (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM copy WHERE k < ${n})`
  db.exec(`
    ${series(many)} INSERT INTO workers (name, joined_at, lease_until, left_at)
      SELECT 'process ' || k, joined_at - k, lease_until - k, left_at - k FROM copy, workers WHERE epoch = 1;
    ${series(Math.min(many, 3650))} INSERT INTO spend
      SELECT date(s.day, '-' || k || ' days'), s.kernel_id, s.agent_id, s.model, s.usd, s.reserved,
      s.calls, s.input_tokens, s.output_tokens, s.cached_tokens FROM copy, (SELECT * FROM spend) s;
    ${series(many)} INSERT INTO approvals
      (id, session, tool, args, effect, sinks, digest, reason, origin, asked_at, expires_at, status)
      SELECT 'past-' || k, 1, 'bash', '{}', '{"recovery":"once","reach":"network"}', '[]', '', '', '{}', k, k + 1,
      'expired' FROM copy;
    ${series(many)} INSERT INTO unknowns
      (id, session, dispatch_id, tool, args, reach, started_at, output_so_far, status, resolution)
      SELECT 'past-' || k, 1, '', 'bash', '{}', 'network', '', '', 'resolved', 'happened' FROM copy;
    ${series(Math.min(copies, 500))} INSERT OR IGNORE INTO documents
      (kernel_id, name, version, sha256, bytes, author, reason, cycle_id, ts, text)
      SELECT kernel_id, name, version - 1000 + k, sha256, bytes, author, reason, cycle_id, ts, text FROM copy,
      (SELECT * FROM documents WHERE name = 'STATE.md' ORDER BY version DESC LIMIT 1)`)
}
