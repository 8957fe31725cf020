/** Reads what was spent, and the selected models. */

import type { SpendingReads } from '../../../../ports/store/spending.ts'
import { spendFromRow, sumFromRow } from '../../rows/spend-rows.ts'
import { readableCondition } from '../readable-functions.ts'
import { SPEND_QUERY, sumQuery } from '../spend.ts'
import type { RowReader } from './row-reader.ts'

export function spendingReads({ all }: RowReader): SpendingReads {
  return {
    async selections() {
      const rows = all(`SELECT scope, model FROM selections WHERE ${readableCondition('selections')} ORDER BY scope`)
      return rows.map(({ scope, model }) => ({ scope: String(scope), model: String(model) }))
    },
    async spend(from, to) {
      return all(SPEND_QUERY, from, to).map(spendFromRow)
    },
    async spendSums({ from, to, by }) {
      return all(sumQuery(by), from, to).map(sumFromRow)
    },
  }
}
