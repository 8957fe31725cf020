/** Broken programs that spend more than they have reserved. */

import type { Variant } from './variants.ts'

export const MONEY_VARIANTS: readonly Variant[] = [
  { name: 'no-reservation', seed: 6, ops: (ops) => ({ ...ops, reserve: () => ({ refused: null }) }) },
  {
    name: 'cap-not-held',
    seed: 6,
    ops: (ops) => ({ ...ops, reserve: (sql, op, held) => ops.reserve(sql, { ...op, caps: [] }, held) }),
  },
  {
    name: 'reservation-released-at-a-crash',
    seed: 14,
    ops: (ops) => ({
      ...ops,
      recover(sql, op, held) {
        sql('DELETE FROM reservations').run()
        sql('UPDATE spend SET reserved = 0').run()
        return ops.recover(sql, op, held)
      },
    }),
  },
  {
    name: 'second-request-forgets-the-first',
    seed: 14,
    ops: (ops) => ({
      ...ops,
      reserve(sql, op, held) {
        for (const { id } of sql('SELECT id FROM reservations WHERE dispatch_id = ?').all(op.dispatch_id))
          ops.unspent(sql, { op: 'unspent', id: String(id) }, held)
        return ops.reserve(sql, op, held)
      },
    }),
  },
]
