/**
 * Operations on facts in PostgreSQL: at most one known fact per agent and key. Only known facts can be searched; ended
 * facts (superseded, forgotten, expired, dropped, undone) are kept up to a limit.
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
import { RefusedBatch } from '../refuse-batch.ts'
import type { Queries } from './connection.ts'
import { upsertNeed } from './needs.ts'
import { type ApplyPgOp, takeWideLock } from './op-context.ts'

const remember: ApplyPgOp<'remember'> = async (db, { fact, now }) => {
  const { agent_id, key } = fact
  const [, ending] = await Promise.all([
    takeWideLock(db),
    db.all(
      `SELECT n, id, agent_id, key FROM facts
       WHERE id = $1 OR (agent_id = $2 AND key = $3 AND status = 'known') OR (status = 'known' AND expires_at <= $4)`,
      ...[fact.id, agent_id, key, now],
    ),
  ])
  // The call is repeated, because its id is stored: it must not undo later changes of the fact.
  if (ending.some(({ id }) => id === fact.id)) return { superseded: false, dropped: [] }
  const known = ending.find((row) => row.agent_id === agent_id && row.key === key)
  const expired = ending.filter((row) => row !== known).map(({ n }) => Number(n))
  if (known) await endFacts(db, [Number(known.n)], 'superseded', fact.id)
  await endFacts(db, expired, 'expired')
  const [, oldest] = await Promise.all([insertFact(db, fact), db.all(OLDEST_KNOWN, agent_id, MAX_FACTS)])
  const dropped = oldest.map(({ n }) => Number(n))
  await endFacts(db, dropped, 'dropped', fact.id)
  if (ending.length + dropped.length > 0) await trimEnded(db, agent_id)
  if (dropped.length > 0) await upsertNeed(db, { need: droppedFactsNeed(agent_id), now })
  return { superseded: known !== undefined, dropped: oldest.map((row) => String(row.key)) }
}

function insertFact(db: Queries, fact: NewFact): Promise<number> {
  const { words, weights } = weighWords(fact.key, fact.text)
  return db.run(
    `WITH fact AS (INSERT INTO facts
       (id, agent_id, key, text, session_id, turn, trust, private, status, created_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'known', $9, $10) RETURNING n)
     INSERT INTO facts_words (n, word, weight) SELECT fact.n, word_stem(word), sum(weight)
     FROM fact, unnest($11::text[], $12::float8[]) AS u (word, weight) GROUP BY 1, 2`,
    ...[fact.id, fact.agent_id, fact.key, fact.text, fact.session_id, fact.turn, fact.trust, fact.private ? 1 : 0],
    ...[Date.parse(fact.created_at), fact.expires_at === null ? null : Date.parse(fact.expires_at), words, weights],
  )
}

/** Deletes the text of all versions of the fact. The rows stay, so that a late call cannot restore the fact. */
const forget: ApplyPgOp<'forget'> = async (db, { agent_id, key, before }) => {
  await takeWideLock(db)
  const rows = await db.all(
    `SELECT n, status FROM facts
     WHERE agent_id = $1 AND key = $2 AND created_at <= $3 AND status <> 'forgotten'`,
    ...[agent_id, key, Math.floor(Math.min(before, Number.MAX_SAFE_INTEGER))],
  )
  await endFacts(
    db,
    rows.map(({ n }) => Number(n)),
    'forgotten',
  )
  await trimEnded(db, agent_id)
  return { forgotten: rows.some(({ status }) => status === 'known') }
}

/** Facts that end come first, because an agent has one known fact per key. */
const change_facts: ApplyPgOp<'change_facts'> = async (db, { changes }) => {
  await takeWideLock(db)
  for (const { id, from, to, ended_by } of changes.toSorted(
    (a, b) => Number(a.to === 'known') - Number(b.to === 'known'),
  )) {
    const row = await db.get('SELECT n, key, text, status FROM facts WHERE id = $1', id)
    if (row?.status !== from) throw new RefusedBatch('conflict', `fact ${id} is ${row?.status ?? 'gone'}, not ${from}`)
    const n = Number(row.n)
    await db.run('DELETE FROM facts_words WHERE n = $1', n)
    await db.run('UPDATE facts SET status = $1, ended_by = $2 WHERE n = $3', to, ended_by, n)
    if (to === 'known') await addWords(db, n, String(row.key), String(row.text))
  }
  return null
}

export const factOps = { remember, forget, change_facts }

const IS_LATIN = /\p{Script=Latin}/u

/** As SQLite's index does it: underscores separate words, and accents of Latin letters do not count. */
const foldWord = (word: string): readonly string[] =>
  word
    .split('_')
    .filter((part) => part !== '')
    .map((part) => (IS_LATIN.test(part) ? part.normalize('NFD').replaceAll(/\p{Mn}/gu, '') : part))

/** Words in the key count twice. */
const KEY_WEIGHT = 2

function weighWords(
  key: string,
  text: string,
): { readonly words: readonly string[]; readonly weights: readonly number[] } {
  const [ofKey, ofText] = [tokenizeForIndex(key).flatMap(foldWord), tokenizeForIndex(text).flatMap(foldWord)]
  return { words: [...ofKey, ...ofText], weights: [...ofKey.map(() => KEY_WEIGHT), ...ofText.map(() => 1)] }
}

export async function addWords(db: Queries, n: number, key: string, text: string): Promise<void> {
  const { words, weights } = weighWords(key, text)
  await db.run(
    `INSERT INTO facts_words (n, word, weight)
     SELECT $1::bigint, word_stem(word), sum(weight) FROM unnest($2::text[], $3::float8[]) AS u (word, weight)
     GROUP BY 1, 2`,
    ...[n, words, weights],
  )
}

async function endFacts(
  db: Queries,
  numbers: readonly number[],
  status: Exclude<FactStatus, 'known'>,
  ended_by: string | null = null,
): Promise<void> {
  if (numbers.length === 0) return
  await db.run(
    `WITH unlisted AS (DELETE FROM facts_words WHERE n = ANY ($1::bigint[]))
     UPDATE facts SET status = $2, ended_by = $3, text = CASE WHEN $2 = 'forgotten' THEN '' ELSE text END
     WHERE n = ANY ($1::bigint[])`,
    ...[numbers, status, ended_by],
  )
}

const OLDEST_KNOWN = "SELECT n, key FROM facts WHERE agent_id = $1 AND status = 'known' ORDER BY n DESC OFFSET $2"

async function trimEnded(db: Queries, agent_id: string): Promise<void> {
  const trim = (ended: string): string =>
    `DELETE FROM facts WHERE n IN
       (SELECT n FROM facts WHERE agent_id = $1 AND status <> 'known' AND ${ended} ORDER BY n DESC OFFSET $2)`
  await db.run(trim("status <> 'dropped'"), agent_id, MAX_ENDED_FACTS)
  await db.run(trim("status = 'dropped'"), agent_id, MAX_DROPPED_FACTS)
}

/** Most words of a query that are searched for; further words are ignored. */
const MAX_WORDS = 64

export const wordsToSearch = (text: string): readonly string[] =>
  [...new Set(tokenize(text).flatMap(foldWord))].slice(0, MAX_WORDS)

/** Best matches first by BM25 without the length of texts: rare words count more, repeated ones little more. */
export const BEST_FACTS = `WITH asked AS (SELECT DISTINCT word_stem(word) AS word FROM unnest($1::text[]) AS word),
  found AS (SELECT w.n, w.weight, count(*) OVER (PARTITION BY w.word) AS facts
    FROM asked JOIN facts_words w ON w.word = asked.word),
  known AS (SELECT count(*) AS facts FROM facts WHERE status = 'known'),
  hits AS (SELECT n,
    sum(ln(1 + (known.facts - found.facts + 0.5) / (found.facts + 0.5)) * weight * 2.2 / (weight + 1.2)) AS score
    FROM found, known GROUP BY n)
  SELECT f.* FROM hits JOIN facts f ON f.n = hits.n
  WHERE ($2::text IS NULL OR f.agent_id = $2) AND (f.expires_at IS NULL OR f.expires_at > $3)
  ORDER BY hits.score DESC, f.n DESC`
