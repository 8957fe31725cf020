/** The table of functions that apply each op. ports/store.ts specifies the order of ops and when an op is refused. */

import type { Op } from '../../../ports/store.ts'
import { insertApproval } from './approvals.ts'
import { enqueueDispatches, openSession } from './create-dispatches.ts'
import { beginCycle, endCycle, writeSetting } from './cycles.ts'
import { insertDocumentVersion, writeProjection } from './documents.ts'
import { changeFacts, forgetFact, rememberFact } from './facts.ts'
import { appendAuditWith, deleteGrant, insertGrant, writeLabel } from './grants-and-audit.ts'
import { acknowledgeObservations, answerAndPublish, promoteDue, publishObservation } from './inbox.ts'
import { appendRecords } from './journal.ts'
import { selectModel } from './model-selections.ts'
import { answerNeed, openNeed, withdrawNeed } from './needs.ts'
import type { ApplyOp } from './op-context.ts'
import {
  markDelivered,
  markUndelivered,
  postMessage,
  postponeMessage,
  recordIncoming,
  recordPartSent,
  retractMessage,
  reviseMessage,
} from './outbox.ts'
import {
  archiveSession,
  cancelDispatches,
  claimDispatches,
  parkDispatch,
  pauseDispatches,
  prioritizeDispatch,
  releaseDispatch,
  retryDispatch,
  settleDispatch,
} from './queue.ts'
import { pruneOldRows } from './retention.ts'
import { fireSchedule, openSchedule, pauseSchedule, putSchedule, removeSchedule } from './schedules.ts'
import { setRowsAside } from './set-rows-aside.ts'
import { releaseSpend, reserveSpend, settleSpend } from './spend.ts'
import { applyTodos } from './todos.ts'
import { beginUndo, endUndo, stopUndo } from './undos.ts'
import { resolveUnknown, upsertUnknown } from './unknown-outcomes.ts'
import { joinWorker, leaveWorker, recoverWorkers, renewLease, takeLead } from './workers.ts'

export type OpTable = { readonly [K in Op['op']]: ApplyOp<K> }

/** OP_TABLE with a key for audit records. */
export const opsWithAuditKey = (key: () => string | undefined): OpTable => ({
  ...OP_TABLE,
  audit: appendAuditWith(key),
})

export const OP_TABLE: OpTable = {
  join: joinWorker,
  beat: renewLease,
  leave: leaveWorker,
  recover: recoverWorkers,
  lead: takeLead,
  // All work is in the home of the store.
  take_over: () => [],
  enqueue: enqueueDispatches,
  claim: claimDispatches,
  promote: promoteDue,
  append: appendRecords,
  acknowledge: acknowledgeObservations,
  settle: settleDispatch,
  park: parkDispatch,
  release: releaseDispatch,
  cancel: cancelDispatches,
  pause: pauseDispatches,
  retry: retryDispatch,
  prioritize: prioritizeDispatch,
  open_session: openSession,
  archive: archiveSession,
  publish: publishObservation,
  unknown: upsertUnknown,
  resolve: resolveUnknown,
  select: selectModel,
  ask: insertApproval,
  answer: answerAndPublish,
  grant: insertGrant,
  revoke: deleteGrant,
  label: writeLabel,
  audit: appendAuditWith(() => undefined),
  cycle_begin: beginCycle,
  cycle_end: endCycle,
  set: writeSetting,
  reserve: reserveSpend,
  spent: settleSpend,
  unspent: releaseSpend,
  remember: rememberFact,
  forget: forgetFact,
  change_facts: changeFacts,
  undo_begin: beginUndo,
  undo_stop: stopUndo,
  undo_end: endUndo,
  need_open: openNeed,
  need_answer: answerNeed,
  need_withdraw: withdrawNeed,
  schedule_put: putSchedule,
  schedule_remove: removeSchedule,
  schedule_pause: pauseSchedule,
  schedule_open: openSchedule,
  schedule_fired: fireSchedule,
  document: insertDocumentVersion,
  project: writeProjection,
  post: postMessage,
  revise: reviseMessage,
  part_sent: recordPartSent,
  delivered: markDelivered,
  undelivered: markUndelivered,
  postpone: postponeMessage,
  retract: retractMessage,
  hear: recordIncoming,
  todos: applyTodos,
  prune: pruneOldRows,
  set_aside: setRowsAside,
}
