/** Facts in the tables: one known per agent and key. Only what is known is in the index; what is over is kept, within bounds. */

import { type FactStatus, MOST_FACTS, MOST_OVER } from '../../../domain/fact.ts'
import { indexedWordsOf, wordsOf } from '../../../domain/words.ts'
import type { FactQuery, Op, Results } from '../../../ports/store.ts'
import type { Sql } from './refused.ts'
import { readableRows } from './unreadable.ts'

type Remember = Extract<Op, { op: 'remember' }>
type Forget = Extract<Op, { op: 'forget' }>

export function rememberFact(sql: Sql, { fact, now }: Remember): Results['remember'] {
  const { agent_id, key } = fact
  // Written once by that call; what has become of it since is not to be undone by saying it again.
  if (sql('SELECT 1 FROM facts WHERE id = ?').get(fact.id)) return { superseded: false, dropped: [] }
  const known = sql("SELECT n FROM facts WHERE agent_id = ? AND key = ? AND status = 'known'").get(agent_id, key)
  if (known) end(sql, Number(known.n), 'superseded')
  for (const { n } of sql("SELECT n FROM facts WHERE status = 'known' AND expires_at <= ?").all(now))
    end(sql, Number(n), 'expired')
  const { lastInsertRowid } = sql(
    `INSERT INTO facts (id, agent_id, key, text, session_id, turn, trust, private, status, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'known', ?, ?)`,
  ).run(
    fact.id,
    agent_id,
    key,
    fact.text,
    fact.session_id,
    fact.turn,
    fact.trust,
    fact.private ? 1 : 0,
    Date.parse(fact.created_at),
    fact.expires_at === null ? null : Date.parse(fact.expires_at),
  )
  sql('INSERT INTO facts_words (rowid, key, text) VALUES (?, ?, ?)').run(
    lastInsertRowid,
    indexedWordsOf(key).join(' '),
    indexedWordsOf(fact.text).join(' '),
  )
  const dropped = makeRoom(sql, agent_id)
  return { superseded: known !== undefined, dropped }
}

/** What it said is gone for good, also in what it superseded. That it was there stays, so that no late call brings it back. */
export function forgetFact(sql: Sql, { agent_id, key, before }: Forget): Results['forget'] {
  const rows = sql(
    "SELECT n, status FROM facts WHERE agent_id = ? AND key = ? AND created_at <= ? AND status <> 'forgotten'",
  ).all(agent_id, key, before)
  for (const { n } of rows) end(sql, Number(n), 'forgotten')
  trimOver(sql, agent_id)
  return { forgotten: rows.some(({ status }) => status === 'known') }
}

function end(sql: Sql, n: number, status: Exclude<FactStatus, 'known'>): void {
  sql("UPDATE facts SET status = ?1, text = iif(?1 = 'forgotten', '', text) WHERE n = ?2").run(status, n)
  sql('DELETE FROM facts_words WHERE rowid = ?').run(n)
}

function makeRoom(sql: Sql, agent_id: string): readonly string[] {
  const oldest = sql(
    "SELECT n, key FROM facts WHERE agent_id = ? AND status = 'known' ORDER BY n DESC LIMIT -1 OFFSET ?",
  ).all(agent_id, MOST_FACTS)
  for (const { n } of oldest) end(sql, Number(n), 'dropped')
  trimOver(sql, agent_id)
  return oldest.map(({ key }) => String(key))
}

function trimOver(sql: Sql, agent_id: string): void {
  sql(
    `DELETE FROM facts WHERE n IN
       (SELECT n FROM facts WHERE agent_id = ? AND status <> 'known' ORDER BY n DESC LIMIT -1 OFFSET ?)`,
  ).run(agent_id, MOST_OVER)
}

/** More words of a question are not looked for. */
const MOST_WORDS = 64

/** Those that share most with the question, its rare words above all; a word of the key counts twice. */
export const RECALL = `SELECT f.* FROM facts_words w JOIN facts f ON f.n = w.rowid
  WHERE facts_words MATCH ?1 AND (?2 IS NULL OR f.agent_id = ?2) AND (f.expires_at IS NULL OR f.expires_at > ?3)
  AND ${readableRows('facts', 'f')}
  ORDER BY bm25(facts_words, 2.0, 1.0), f.n DESC LIMIT ?4`

/** Undefined: there is nothing in it to look for. */
export function matchOf({ text }: Pick<FactQuery, 'text'>): string | undefined {
  const words = [...new Set(wordsOf(text))].slice(0, MOST_WORDS)
  return words.length === 0 ? undefined : words.map((word) => `"${word}"`).join(' OR ')
}
