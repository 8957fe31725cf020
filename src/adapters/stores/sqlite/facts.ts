/**
 * Table operations on facts: at most one known fact per agent and key. Only known facts can be searched; ended facts
 * (superseded, forgotten, expired, dropped, undone) are kept up to a limit.
 */

import {
  droppedFactsNeed,
  type FactStatus,
  MAX_DROPPED_FACTS,
  MAX_ENDED_FACTS,
  MAX_FACTS,
  type NewFact,
} from '../../../domain/fact.ts'
import { tokenize, tokenizeForIndex } from '../../../domain/tokenize.ts'
import type { FactQuery } from '../../../ports/store/documents.ts'
import type { Op, OpResults } from '../../../ports/store.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import { openNeed } from './needs.ts'
import { readableCondition } from './readable-functions.ts'
import type { Sql } from './sql.ts'

type Remember = Extract<Op, { op: 'remember' }>
type Forget = Extract<Op, { op: 'forget' }>
type ChangeFacts = Extract<Op, { op: 'change_facts' }>

export function rememberFact(sql: Sql, { fact, now }: Remember): OpResults['remember'] {
  const { agent_id, key } = fact
  // The call is repeated, because its id is stored: it must not undo later changes of the fact.
  if (sql('SELECT 1 FROM facts WHERE id = ?').get(fact.id)) return { superseded: false, dropped: [] }
  const known = sql("SELECT n FROM facts WHERE agent_id = ? AND key = ? AND status = 'known'").get(agent_id, key)
  if (known) endFact(sql, Number(known.n), 'superseded', fact.id)
  for (const { n } of sql("SELECT n FROM facts WHERE status = 'known' AND expires_at <= ?").all(now))
    endFact(sql, Number(n), 'expired')
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
  indexWords(sql, { n: Number(lastInsertRowid), key, text: fact.text })
  const dropped = dropOldest(sql, fact)
  if (dropped.length > 0) openNeed(sql, { op: 'need_open', need: droppedFactsNeed(agent_id), now }, undefined)
  return { superseded: known !== undefined, dropped }
}

/** Deletes the text of all versions of the fact. The rows stay, so that a late call cannot restore the fact. */
export function forgetFact(sql: Sql, { agent_id, key, before }: Forget): OpResults['forget'] {
  const rows = sql(
    "SELECT n, status FROM facts WHERE agent_id = ? AND key = ? AND created_at <= ? AND status <> 'forgotten'",
  ).all(agent_id, key, before)
  for (const { n } of rows) endFact(sql, Number(n), 'forgotten')
  trimEnded(sql, agent_id)
  return { forgotten: rows.some(({ status }) => status === 'known') }
}

function indexWords(
  sql: Sql,
  { n, key, text }: { readonly n: number; readonly key: string; readonly text: string },
): void {
  sql('INSERT INTO facts_words (rowid, key, text) VALUES (?, ?, ?)').run(
    n,
    tokenizeForIndex(key).join(' '),
    tokenizeForIndex(text).join(' '),
  )
}

/** Facts that end come first, because an agent has one known fact per key. */
export function changeFacts(sql: Sql, { changes }: ChangeFacts): null {
  for (const { id, from, to, ended_by } of changes.toSorted(
    (a, b) => Number(a.to === 'known') - Number(b.to === 'known'),
  )) {
    const row = sql('SELECT n, key, text, status FROM facts WHERE id = ?').get(id)
    if (row?.status !== from) throw new RefusedBatch('conflict', `fact ${id} is ${row?.status ?? 'gone'}, not ${from}`)
    const n = Number(row.n)
    sql('DELETE FROM facts_words WHERE rowid = ?').run(n)
    sql('UPDATE facts SET status = ?, ended_by = ? WHERE n = ?').run(to, ended_by, n)
    if (to === 'known') indexWords(sql, { n, key: String(row.key), text: String(row.text) })
  }
  return null
}

type Ended = Exclude<FactStatus, 'known'>

function endFact(sql: Sql, n: number, status: Ended, ended_by: string | null = null): void {
  sql("UPDATE facts SET status = ?1, ended_by = ?3, text = iif(?1 = 'forgotten', '', text) WHERE n = ?2").run(
    ...[status, n, ended_by],
  )
  sql('DELETE FROM facts_words WHERE rowid = ?').run(n)
}

function dropOldest(sql: Sql, { agent_id, id }: Pick<NewFact, 'agent_id' | 'id'>): readonly string[] {
  const oldest = sql(
    "SELECT n, key FROM facts WHERE agent_id = ? AND status = 'known' ORDER BY n DESC LIMIT -1 OFFSET ?",
  ).all(agent_id, MAX_FACTS)
  for (const { n } of oldest) endFact(sql, Number(n), 'dropped', id)
  trimEnded(sql, agent_id)
  return oldest.map(({ key }) => String(key))
}

function trimEnded(sql: Sql, agent_id: string): void {
  const trim = (ended: string): string =>
    `DELETE FROM facts WHERE n IN
       (SELECT n FROM facts WHERE agent_id = ? AND status <> 'known' AND ${ended} ORDER BY n DESC LIMIT -1 OFFSET ?)`
  sql(trim("status <> 'dropped'")).run(agent_id, MAX_ENDED_FACTS)
  sql(trim("status = 'dropped'")).run(agent_id, MAX_DROPPED_FACTS)
}

/** Most words of a query that are searched for; further words are ignored. */
const MAX_WORDS = 64

/** Best matches first by BM25, which weighs rare words more; words in the key count twice. */
export const RECALL_QUERY = `SELECT f.* FROM facts_words w JOIN facts f ON f.n = w.rowid
  WHERE facts_words MATCH ?1 AND (?2 IS NULL OR f.agent_id = ?2) AND (f.expires_at IS NULL OR f.expires_at > ?3)
  AND ${readableCondition('facts', 'f')}
  ORDER BY bm25(facts_words, 2.0, 1.0), f.n DESC LIMIT ?4`

/** Contract: undefined if the text has no words to search for. */
export function buildMatchQuery({ text }: Pick<FactQuery, 'text'>): string | undefined {
  const words = [...new Set(tokenize(text))].slice(0, MAX_WORDS)
  return words.length === 0 ? undefined : words.map((word) => `"${word}"`).join(' OR ')
}
