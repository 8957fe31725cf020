/** Broken programs that lose messages, process them twice, or do not wake up for them. */

import type { StatementSync } from 'node:sqlite'
import type { Sql } from '../../src/adapters/stores/sqlite/sql.ts'
import type { Variant } from './variants.ts'

/** More than users send outside of a flood. */
const MANY = 20

export const INBOX_VARIANTS: readonly Variant[] = [
  {
    name: 'lost-wake-up',
    seed: 17,
    ops: (ops) => ({ ...ops, park: (sql, op, held) => ops.park(hideInbox(sql), op, held) }),
  },
  {
    name: 'silent-deadline',
    ops: (ops) => ({
      ...ops,
      promote(sql, op) {
        const due = "status = 'waiting' AND due <= ?"
        const woken = sql(`UPDATE dispatches SET status = 'pending', wait = NULL, due = NULL WHERE ${due}`).run(op.now)
        return { promoted: Number(woken.changes) }
      },
    }),
  },
  {
    name: 'successor-dropped',
    seed: 17,
    ops: (ops) => ({ ...ops, settle: (sql, op, held) => ops.settle(hideInbox(sql), op, held) }),
  },
  {
    name: 'message-taken-twice',
    seed: 8,
    ops: (ops) => ({
      ...ops,
      publish(sql, op, held) {
        const result = ops.publish(sql, op, held)
        if (!result.duplicate) return result
        return ops.publish(sql, { ...op, observation: { ...op.observation, id: `${op.observation.id}-again` } }, held)
      },
    }),
  },
  {
    name: 'task-taken-twice',
    ops: (ops) => ({
      ...ops,
      enqueue: (sql, op, held) =>
        ops.enqueue(sql, { ...op, dispatches: op.dispatches.map(({ key: _, ...dispatch }) => dispatch) }, held),
    }),
  },
  {
    // Messages that did not fit into a step are acknowledged with the rest.
    name: 'flood-drops-overflow',
    seed: 4,
    rewriteBatches: (batches, { mirror }) =>
      batches.map((batch) => ({
        ...batch,
        ops: batch.ops.map((op) => {
          if (op.op !== 'acknowledge' || op.observation_ids.length < MANY) return op
          const unread = mirror.unread(mirror.byId.get(op.session_id)?.n ?? 0).map(({ id }) => id)
          return { ...op, observation_ids: [...new Set([...op.observation_ids, ...unread])] }
        }),
      })),
  },
  {
    // Treats every message as read.
    name: 'retention-takes-the-unread',
    seed: 6,
    ops: (ops) => ({ ...ops, prune: (sql, op, held) => ops.prune(treatAllAsRead(sql), op, held) }),
  },
  {
    name: 'deadline-told-once',
    seed: 8,
    ops: (ops) => ({
      ...ops,
      promote(sql, op, held) {
        const [{ n: last = 0 } = {}] = sql('SELECT max(n) AS n FROM inbox').all()
        const result = ops.promote(sql, op, held)
        const deadlines = "SELECT session FROM inbox WHERE id LIKE 'deadline-%' AND n <= ?1"
        sql(`DELETE FROM inbox WHERE n > ?1 AND session IN (${deadlines})`).run(Number(last))
        return result
      },
    }),
  },
]

/** Hides every row of the inbox. */
function hideInbox(sql: Sql): Sql {
  const nothing = { get: () => undefined, all: () => [] } as unknown as StatementSync
  return (text) => (text.includes('FROM inbox') ? nothing : sql(text))
}

const UNREAD = 'SELECT 1 FROM inbox i WHERE i.session = s.n AND i.read_at IS NULL'

const treatAllAsRead =
  (sql: Sql): Sql =>
  (text) =>
    sql(text.replace(UNREAD, 'SELECT 1 WHERE 0'))
