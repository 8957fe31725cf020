/**
 * The operations by which a person's answer to an approval is stored, with its entry in the audit log.
 * Must not know: how the person answered.
 */

import type { Clock } from '../../ports/clock.ts'
import type { Op } from '../../ports/store.ts'

interface PersonsAnswer {
  readonly approval_id: string
  readonly answer: 'allowed' | 'denied'
  readonly reason: string | null
  /** Id of the grant that comes with the answer. */
  readonly grant: string | null
}

type AnswerOp = Extract<Op, { op: 'answer' }>
type AuditOp = Extract<Op, { op: 'audit' }>

export function answerOps({ approval_id, answer, reason, grant }: PersonsAnswer, clock: Clock): [AnswerOp, AuditOp] {
  const now = clock.now()
  return [
    { op: 'answer', approval_id, answer, reason, now, borne_out: clock.borneOut() },
    { op: 'audit', entry: { ts: now, what: 'answer', approval: approval_id, answer, reason, grant } },
  ]
}
