/** Broken programs that run calls without approval, or lose an approval that was given. */

import type { Sql } from '../../src/adapters/stores/sqlite/sql.ts'
import { approvalAnswerObservation } from '../../src/domain/approval.ts'
import type { JournalRecord } from '../../src/domain/journal-record.ts'
import { approvalDigest } from '../../src/engine/calls/approved-calls.ts'
import { RESULT_LABELS } from './ground-truth.ts'
import type { TurnState } from './invariants/session.ts'
import type { ToolName } from './plan.ts'
import type { Variant } from './variants.ts'

export const APPROVAL_VARIANTS: readonly Variant[] = [
  {
    // A result takes the label of its tool, whatever the session has read before.
    name: 'label-not-inherited',
    rewriteBatches: (batches, { mirror }) =>
      batches.map((batch) => ({
        ...batch,
        ops: batch.ops.map((op) => {
          if (op.op !== 'append') return op
          const calls = mirror.byId.get(op.session_id)?.open?.calls
          return { ...op, records: op.records.map((record) => withToolLabelOnly(record, calls)) }
        }),
      })),
  },
  {
    name: 'open-after-the-end',
    ops: (ops) => ({
      ...ops,
      settle(sql, op, held) {
        const result = ops.settle(sql, op, held)
        reopenApprovals(sql)
        return result
      },
    }),
  },
  {
    name: 'open-after-death',
    seed: 186,
    ops: (ops) => ({
      ...ops,
      recover(sql, op, held) {
        const result = ops.recover(sql, op, held)
        if (result.dead.length > 0) reopenApprovals(sql)
        return result
      },
    }),
  },
  { name: 'asked-unseen', seed: 11, ops: (ops) => ({ ...ops, ask: () => null }) },
  {
    name: 'answered-again',
    seed: 11,
    ops: (ops) => ({
      ...ops,
      answer(sql, op, held) {
        sql("UPDATE approvals SET status = 'open' WHERE id = ?").run(op.approval_id)
        return ops.answer(sql, op, held)
      },
    }),
  },
  {
    name: 'answer-untold',
    seed: 2,
    ops: (ops) => ({
      ...ops,
      answer(sql, op, held) {
        const answered = ops.answer(sql, op, held)
        sql('DELETE FROM inbox WHERE id = ?').run(`approval-${op.approval_id}`)
        return answered
      },
    }),
  },
  {
    name: 'other-arguments',
    seed: 11,
    store: (store) => ({
      ...store,
      async approval(id) {
        const approval = await store.approval(id)
        const args = { n: 100 }
        return approval && { ...approval, args, digest: approvalDigest({ ...approval, args }) }
      },
    }),
  },
  {
    name: 'run-though-denied',
    seed: 2,
    ops: (ops) => ({
      ...ops,
      answer(sql, op, held) {
        const answered = ops.answer(sql, op, held)
        const observation = approvalAnswerObservation(answered.approval, 'allowed', null, op.now)
        sql('UPDATE inbox SET body = ? WHERE id = ?').run(JSON.stringify(observation), observation.id)
        return answered
      },
    }),
    store: (store) => ({
      ...store,
      async approval(id) {
        const approval = await store.approval(id)
        return approval && { ...approval, status: 'allowed' }
      },
    }),
  },
  {
    name: 'approval-reused',
    seed: 86,
    ops: (ops) => ({
      ...ops,
      acknowledge(sql, op, held) {
        const result = ops.acknowledge(sql, op, held)
        const again = `INSERT INTO inbox (session, id, body)
          SELECT session, id || '-again', json_set(body, '$.id', id || '-again') FROM inbox
          WHERE id = ? AND id LIKE 'approval-%' AND id NOT LIKE '%-again' ON CONFLICT DO NOTHING`
        for (const id of op.observation_ids) sql(again).run(id)
        return result
      },
    }),
    store: (store) => ({
      ...store,
      journal: async (sessionId, from) => (await store.journal(sessionId, from)).map(withOldApproval),
    }),
  },
]

/** Undoes the denial of open approvals that happens when their run ends. */
function reopenApprovals(sql: Sql): void {
  const ended = "answer_reason LIKE 'the run ended: %'"
  sql(`DELETE FROM inbox WHERE id IN (SELECT 'approval-' || id FROM approvals WHERE ${ended})`).run()
  sql(`UPDATE approvals SET status = 'open', answered_at = NULL, answer_reason = NULL WHERE ${ended}`).run()
}

function withToolLabelOnly(record: JournalRecord, calls: TurnState['calls'] | undefined): JournalRecord {
  if (record.kind !== 'call_settled') return record
  const given = RESULT_LABELS[calls?.get(record.index)?.tool as ToolName]
  if (given === undefined) return record
  const { label: _, ...settled } = record
  return given.private ? { ...settled, label: given } : settled
}

/** Pretends that the call was made under a different approval. */
function withOldApproval(record: JournalRecord): JournalRecord {
  if (record.kind !== 'decided' || record.decision.kind !== 'act') return record
  const calls = record.decision.calls.map((call) =>
    call.approval === undefined ? call : { ...call, approval: `${call.approval}-old` },
  )
  return { ...record, decision: { ...record.decision, calls } }
}
