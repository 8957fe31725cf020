/** Reads needs. */

import type { NeedReads } from '../../../../ports/store/needs.ts'
import { needFromRow } from '../../rows/rows.ts'
import { readableCondition } from '../readable-functions.ts'
import { conditionsOf } from './list-conditions.ts'
import type { RowReader } from './row-reader.ts'

export function needReads({ all, readOne }: RowReader): NeedReads {
  return {
    async need(id) {
      const row = readOne('needs', 'SELECT * FROM needs WHERE id = ?', id)
      return row && needFromRow(row)
    },
    async openNeed(sameAs) {
      const row = readOne('needs', "SELECT * FROM needs WHERE same_as = ? AND status = 'open'", sameAs)
      return row && needFromRow(row)
    },
    async needs({ status, offset = 0, limit }) {
      const { text, values } = conditionsOf(['status = ?', status])
      const matching = `FROM needs WHERE ${text} AND ${readableCondition('needs')}`
      const [counted] = all(`SELECT count(*) AS total ${matching}`, ...values)
      const page = `LIMIT ?${values.length + 1} OFFSET ?${values.length + 2}`
      const rows = all(`SELECT * ${matching} ORDER BY n DESC ${page}`, ...values, limit, offset)
      return { items: rows.map(needFromRow), total: Number(counted?.total) }
    },
  }
}
