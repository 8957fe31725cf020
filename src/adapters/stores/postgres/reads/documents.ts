/** Reads documents, facts and messages to people from PostgreSQL. */

import type { OutboxReads } from '../../../../ports/outbox.ts'
import type { DocumentReads } from '../../../../ports/store/documents.ts'
import { deliveriesFromRow, postedFromRow } from '../../rows/message-rows.ts'
import { documentFromRow, factFromRow, VERSION_COLUMNS, versionFromRow } from '../../rows/rows.ts'
import { describeUnreadableRow } from '../../rows/unreadable-rows.ts'
import { NEWEST_VERSION } from '../documents.ts'
import { BEST_FACTS, wordsToSearch } from '../facts.ts'
import { FIRST_DUE } from '../outbox.ts'
import { toInstant } from '../retention.ts'
import { conditionsFor, type PgRowReader } from './row-reader.ts'

export function pgDocumentReads({ readAll, readOne, readPage, all }: PgRowReader): DocumentReads {
  const factsWhere = ({
    agent_id,
    status,
    over = status !== undefined,
    now,
  }: Parameters<DocumentReads['countFacts']>[0]) =>
    conditionsFor(
      ['f.agent_id = ?', agent_id],
      ['f.status = ?', status],
      ["f.status = 'known' AND (f.expires_at IS NULL OR f.expires_at > ?)", over ? undefined : toInstant(now)],
    )
  return {
    async document(kernelId, name) {
      const row = await readOne('documents', NEWEST_VERSION, kernelId, name)
      return row && documentFromRow(row)
    },
    async documentVersion(kernelId, name, version) {
      const condition = 'kernel_id = $1 AND name = $2 AND version = $3'
      const select = `SELECT ${VERSION_COLUMNS}, text FROM documents WHERE ${condition}`
      const row = await readOne('documents', select, kernelId, name, version)
      return row && documentFromRow(row)
    },
    async documentVersions({ kernel_id, name, limit }) {
      const list = `SELECT ${VERSION_COLUMNS} FROM documents WHERE kernel_id = $1 AND name = $2 ORDER BY version DESC`
      return (await readPage('documents', list, [kernel_id, name], { limit })).map(versionFromRow)
    },
    async projection(kernelId, name) {
      const [row] = await all('SELECT text FROM projections WHERE kernel_id = $1 AND name = $2', kernelId, name)
      return row && String(row.text)
    },
    async facts({ limit, offset = 0, ...filter }) {
      const { text, values } = factsWhere(filter)
      const list = `SELECT f.* FROM facts f WHERE ${text} ORDER BY f.n DESC`
      return (await readPage('facts', list, values, { limit, offset })).map(factFromRow)
    },
    async countFacts(filter) {
      const { text, values } = factsWhere(filter)
      return (await readAll('facts', `SELECT f.* FROM facts f WHERE ${text}`, ...values)).length
    },
    async recallFacts({ agent_id, text, now, limit }) {
      const words = wordsToSearch(text)
      if (words.length === 0) return []
      const values = [words, agent_id ?? null, toInstant(now)]
      return (await readPage('facts', BEST_FACTS, values, { limit })).map(factFromRow)
    },
  }
}

const SUMMARY = `SELECT channel, count(*) FILTER (WHERE status = 'pending') AS pending,
  count(*) FILTER (WHERE status = 'failed') AS failed, max(sent_at) AS last_sent_at,
  (SELECT error FROM outbox l WHERE l.channel = o.channel AND status <> 'sent' AND error IS NOT NULL
    ORDER BY n DESC LIMIT 1) AS last_error
  FROM outbox o WHERE n <> ALL ($1::bigint[]) GROUP BY channel ORDER BY channel`

export function pgOutboxReads({ all, readAll, readPage }: PgRowReader): OutboxReads {
  return {
    async outbox({ channel, status, limit }) {
      const { text, values } = conditionsFor(['channel = ?', channel], ['status = ?', status])
      const list = `SELECT * FROM outbox WHERE ${text} ORDER BY n DESC`
      return (await readPage('outbox', list, values, { limit })).map(postedFromRow)
    },
    async dueMessages(now) {
      // An unreadable message is left out, and its channel is searched again without it.
      const unreadable: number[] = []
      for (;;) {
        const found = await all(FIRST_DUE, now, unreadable)
        const bad = found.filter((row) => describeUnreadableRow('outbox', row) !== undefined)
        if (bad.length === 0) return found.map(postedFromRow)
        unreadable.push(...bad.map(({ n }) => Number(n)))
      }
    },
    async nextMessageDue(after) {
      const list = "SELECT * FROM outbox WHERE status = 'pending' AND due > $1 ORDER BY due"
      const [first] = await readPage('outbox', list, [toInstant(after)], { limit: 1 })
      return first && Number(first.due)
    },
    async deliveries() {
      // Only rows that are kept are checked: at most about a thousand, and those that wait.
      const readable = new Set((await readAll('outbox', 'SELECT * FROM outbox')).map(({ n }) => Number(n)))
      const rows = await all('SELECT n FROM outbox')
      const unreadable = rows.map(({ n }) => Number(n)).filter((n) => !readable.has(n))
      return (await all(SUMMARY, unreadable)).map(deliveriesFromRow)
    },
  }
}
