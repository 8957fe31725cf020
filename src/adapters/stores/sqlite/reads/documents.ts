/** Reads documents and facts. */

import type { DocumentReads } from '../../../../ports/store/documents.ts'
import { documentFromRow, factFromRow, VERSION_COLUMNS, versionFromRow } from '../../rows/rows.ts'
import { LATEST_VERSION } from '../documents.ts'
import { buildMatchQuery, RECALL_QUERY } from '../facts.ts'
import { readableCondition } from '../readable-functions.ts'
import type { RowReader } from './row-reader.ts'

const LISTED_FACTS = `(?1 IS NULL OR f.agent_id = ?1)
  AND (?3 OR (f.status = 'known' AND (f.expires_at IS NULL OR f.expires_at > ?2)))
  AND (?4 IS NULL OR f.status = ?4)
  AND ${readableCondition('facts', 'f')}`

export function documentReads({ all, readOne }: RowReader): DocumentReads {
  return {
    async document(kernelId, name) {
      const row = readOne('documents', LATEST_VERSION, kernelId, name)
      return row && documentFromRow(row)
    },
    async documentVersion(kernelId, name, version) {
      const condition = 'kernel_id = ? AND name = ? AND version = ?'
      const select = `SELECT ${VERSION_COLUMNS}, text FROM documents WHERE ${condition}`
      const row = readOne('documents', select, kernelId, name, version)
      return row && documentFromRow(row)
    },
    async documentVersions({ kernel_id, name, limit }) {
      return all(
        `SELECT ${VERSION_COLUMNS} FROM documents WHERE kernel_id = ? AND name = ? AND ${readableCondition('documents')}
         ORDER BY version DESC LIMIT ?`,
        kernel_id,
        name,
        limit,
      ).map(versionFromRow)
    },
    async projection(kernelId, name) {
      const [row] = all('SELECT text FROM projections WHERE kernel_id = ? AND name = ?', kernelId, name)
      return row && String(row.text)
    },
    async facts({ agent_id, status = null, over = status !== null, now, limit, offset = 0 }) {
      const select = `SELECT f.* FROM facts f WHERE ${LISTED_FACTS} ORDER BY f.n DESC LIMIT ?5 OFFSET ?6`
      return all(select, agent_id ?? null, now, over ? 1 : 0, status, limit, offset).map(factFromRow)
    },
    async countFacts({ agent_id, status = null, over = status !== null, now }) {
      const [row] = all(
        `SELECT count(*) AS count FROM facts f WHERE ${LISTED_FACTS}`,
        agent_id ?? null,
        now,
        over ? 1 : 0,
        status,
      )
      return Number(row?.count ?? 0)
    },
    async recallFacts({ agent_id, text, now, limit }) {
      const match = buildMatchQuery({ text })
      return match === undefined ? [] : all(RECALL_QUERY, match, agent_id ?? null, now, limit).map(factFromRow)
    },
  }
}
