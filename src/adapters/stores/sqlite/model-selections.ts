/** Table operations on selected models: one per scope. */

import type { ApplyOp } from './op-context.ts'

export const selectModel: ApplyOp<'select'> = (sql, { scope, model, now }) => {
  if (model === null) sql('DELETE FROM selections WHERE scope = ?').run(scope)
  else
    sql('INSERT INTO selections VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET model = ?2, chosen_at = ?3').run(
      scope,
      model,
      now,
    )
  return null
}
