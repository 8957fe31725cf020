/** The function that applies each op. ports/store.ts specifies order and refusals. */

import type { Op } from '../../../ports/store.ts'
import type { Apply } from './apply.ts'
import { ask } from './approvals.ts'
import { beginCycle, endCycle, setWord } from './cycles.ts'
import { enqueue } from './dispatches.ts'
import { insertVersion, project } from './documents.ts'
import { forgetFact, rememberFact } from './facts.ts'
import { acknowledge, answer, promote, publish } from './inbox.ts'
import { append } from './journal.ts'
import { delivered, hear, post, undelivered } from './outbox.ts'
import { auditWith, grant, label, revoke } from './policy.ts'
import { archive, cancel, claim, park, pause, release, retry, settle } from './queue.ts'
import { prune } from './retention.ts'
import { fireSchedule, openSchedule, pauseSchedule, putSchedule, removeSchedule } from './schedules.ts'
import { select } from './selections.ts'
import { setAside } from './set-aside.ts'
import { releaseSpend, reserveSpend, settleSpend } from './spend.ts'
import { resolve, unknown } from './unknowns.ts'
import { beat, join, leave, recover } from './workers.ts'

export type Ops = { readonly [K in Op['op']]: Apply<K> }

/** The op table with a key for audit records. */
export const opsWith = (key: () => string | undefined): Ops => ({ ...OPS, audit: auditWith(key) })

export const OPS: Ops = {
  join,
  beat,
  leave,
  recover,
  enqueue,
  claim,
  promote,
  append,
  acknowledge,
  settle,
  park,
  release,
  cancel,
  pause,
  retry,
  archive,
  publish,
  unknown,
  resolve,
  select,
  ask,
  answer,
  grant,
  revoke,
  label,
  audit: auditWith(() => undefined),
  cycle_begin: beginCycle,
  cycle_end: endCycle,
  set: setWord,
  reserve: reserveSpend,
  spent: settleSpend,
  unspent: releaseSpend,
  remember: rememberFact,
  forget: forgetFact,
  schedule_put: putSchedule,
  schedule_remove: removeSchedule,
  schedule_pause: pauseSchedule,
  schedule_open: openSchedule,
  schedule_fired: fireSchedule,
  document: insertVersion,
  project,
  post,
  delivered,
  undelivered,
  hear,
  prune,
  set_aside: setAside,
}
