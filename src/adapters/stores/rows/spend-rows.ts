/** Converts rows of spending to domain types. */

import type { Spend, SpendGroup, SpendSum } from '../../../domain/money.ts'
import type { Spender } from '../../../ports/store/spending.ts'
import type { SqlRow } from './rows.ts'

export const spenderFromRow = ({ day, kernel_id, agent_id, model }: SqlRow): Omit<Spender, 'dispatch_id'> => ({
  day: String(day),
  kernel_id: String(kernel_id),
  agent_id: String(agent_id),
  model: String(model),
})

export const spendFromRow = (row: SqlRow): Spend => ({ ...spenderFromRow(row), ...amountsFromRow(row) })

const amountsFromRow = (row: SqlRow): Omit<SpendSum, 'day' | 'key'> => ({
  usd: Number(row.usd),
  reserved: Number(row.reserved),
  calls: Number(row.calls),
  input_tokens: Number(row.input_tokens),
  output_tokens: Number(row.output_tokens),
  cached_tokens: Number(row.cached_tokens),
})

export const SPEND_AMOUNTS = ['usd', 'reserved', 'calls', 'input_tokens', 'output_tokens', 'cached_tokens']
/** SQL for the key of a sum. */
export const SPEND_KEYS: Readonly<Record<SpendGroup, string>> = { day: "''", agent: 'agent_id', model: 'model' }

export const sumFromRow = (row: SqlRow): SpendSum => ({
  ...{ day: String(row.day), key: String(row.key) },
  ...amountsFromRow(row),
})
