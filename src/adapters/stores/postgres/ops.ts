/** The table of functions that apply each op in PostgreSQL. ports/store.ts specifies when an op is refused. */

import type { Op } from '../../../ports/store.ts'
import { approvalOps } from './approvals.ts'
import { creatingOps } from './create-dispatches.ts'
import { cycleOps } from './cycles.ts'
import { documentOps } from './documents.ts'
import { factOps } from './facts.ts'
import { inboxOps } from './inbox.ts'
import { journalOps } from './journal.ts'
import { needOps } from './needs.ts'
import type { ApplyPgOp } from './op-context.ts'
import { outboxOps } from './outbox.ts'
import { permissionOps } from './permissions.ts'
import { queueOps } from './queue.ts'
import { retentionOps } from './retention.ts'
import { setAsideOps } from './set-rows-aside.ts'
import { spendOps } from './spend.ts'
import { todoOps } from './todos.ts'
import { workerOps } from './workers.ts'

export const PG_OPS: { readonly [K in Op['op']]: ApplyPgOp<K> } = {
  ...workerOps,
  ...creatingOps,
  ...queueOps,
  ...inboxOps,
  ...journalOps,
  ...approvalOps,
  ...permissionOps,
  ...cycleOps,
  ...spendOps,
  ...factOps,
  ...documentOps,
  ...outboxOps,
  ...todoOps,
  ...needOps,
  ...retentionOps,
  ...setAsideOps,
}
