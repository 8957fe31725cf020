/** Reads needs from PostgreSQL. */

import type { NeedReads } from '../../../../ports/store/needs.ts'
import { needFromRow } from '../../rows/rows.ts'
import { conditionsFor, type PgRowReader } from './row-reader.ts'

export function pgNeedReads({ readOne, readPage, all }: PgRowReader): NeedReads {
  return {
    async need(id) {
      const row = await readOne('needs', 'SELECT * FROM needs WHERE id = $1', id)
      return row && needFromRow(row)
    },
    async openNeed(sameAs) {
      const row = await readOne('needs', "SELECT * FROM needs WHERE same_as = $1 AND status = 'open'", sameAs)
      return row && needFromRow(row)
    },
    async needs({ status, offset = 0, limit }) {
      const { text, values } = conditionsFor(['status = ?', status])
      const [counted] = await all(`SELECT count(*) AS total FROM needs WHERE ${text}`, ...values)
      const list = `SELECT * FROM needs WHERE ${text} ORDER BY n DESC`
      const rows = await readPage('needs', list, values, { limit, offset })
      return { items: rows.map(needFromRow), total: Number(counted?.total) }
    },
  }
}
