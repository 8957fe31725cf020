/** Broken families: sub-agents that outlive their parents, results that come twice, money that does not come back. */

import type { StatementSync } from 'node:sqlite'
import type { Sql } from '../../src/adapters/stores/sqlite/sql.ts'
import { agentResult } from '../../src/domain/sub-agent.ts'
import type { Variant } from './variants.ts'

export const SUB_AGENT_VARIANTS: readonly Variant[] = [
  {
    // The end of a run is its own affair: the runs that it started go on.
    name: 'cancel-not-cascading',
    seed: 69,
    ops: (ops) => ({ ...ops, settle: (sql, op, held) => ops.settle(hideChildren(sql), op, held) }),
  },
  {
    // Whoever recovers a home does not trust the deliveries of its predecessor, and delivers under ids of its own.
    name: 'result-delivered-twice',
    seed: 9,
    ops: (ops) => ({
      ...ops,
      recover(sql, op, held) {
        const recovered = ops.recover(sql, op, held)
        for (const { session_id, ...child } of sql(ENDED_CHILDREN).all()) {
          const sent = agentResult({ ...child, metadata: {} } as never, undefined, { isLate: false, now: op.now })
          const observation = { ...sent, id: `${sent.id}-again` }
          ops.publish(
            sql,
            { ...{ op: 'publish', session_id: String(session_id) }, observation, ...NOBODY, now: op.now },
            held,
          )
        }
        return recovered
      },
    }),
  },
  {
    // The result says that everything was spent that the sub-agent was given.
    name: 'budget-not-returned',
    seed: 117,
    ops: (ops) => ({
      ...ops,
      settle(sql, op, held) {
        const given = sql(BUDGET).get(held?.dispatch ?? 0)?.usd
        if (!op.report || typeof given !== 'number') return ops.settle(sql, op, held)
        return ops.settle(sql, { ...op, report: { ...op.report, cost_usd: given } }, held)
      },
    }),
  },
]

const NOBODY = { successor_id: 'nobody' }
const BUDGET = "SELECT json_extract(metadata, '$.budget.usd') AS usd FROM dispatches WHERE n = ?"
/** Of parents that have not ended. */
const ENDED_CHILDREN = `SELECT d.dispatch_id, d.agent_id, d.status, d.result, d.error, d.attempts, s.session_id
  FROM dispatches d JOIN dispatches p ON p.n = d.parent JOIN sessions s ON s.n = p.session
  WHERE d.status NOT IN ('pending', 'running', 'waiting') AND p.status IN ('pending', 'running', 'waiting')`

/** Hides the runs that a run has started. */
function hideChildren(sql: Sql): Sql {
  const nothing = { all: () => [] } as unknown as StatementSync
  return (text) => (text.includes('FROM dispatches WHERE parent = ?') ? nothing : sql(text))
}
