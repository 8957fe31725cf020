/** Retention: what it takes away is over, and nobody waits for anything of it; what is left when everything old may go has a reason. */

import { approvalObservationId } from '../../../src/domain/approval.ts'
import { isTerminal } from '../../../src/domain/dispatch.ts'
import { sessionOf } from '../ground-truth.ts'
import type { World } from '../world.ts'
import { checkTold } from './effects.ts'
import type { SessionState } from './session.ts'

/** Of what retention took away nothing is left to be held against the rows. `left`: the numbers of the sessions that are still there. */
export function forgetGone(world: World, left: ReadonlySet<number>): void {
  const { watch, counters } = world
  for (const session of [...watch.sessions.values()]) {
    const { n, session_id } = session
    if (left.has(n)) continue
    const reason = reasonToStay(world, session)
    if (reason !== undefined) world.fail('retention', `${session_id} was taken away, and ${reason}`)
    checkTold(world, session_id)
    watch.sessions.delete(n)
    watch.byId.delete(session_id)
    watch.gone.add(session_id)
    for (const row of [...watch.dispatches.values()])
      if (row.session === n && watch.dispatches.delete(row.dispatch_id)) watch.gone.add(row.dispatch_id)
    for (const row of [...watch.inbox.values()]) if (row.session === n) watch.inbox.delete(row.key)
    for (const listed of [watch.unknowns, watch.approvals])
      for (const id of [...listed.keys()]) if (sessionOf(id) === session_id) listed.delete(id)
    counters.add('session taken away by retention')
  }
}

/** When everything has come to rest, and all that is old was taken away. */
export function checkLeft(world: World): void {
  for (const session of world.watch.sessions.values())
    if (reasonToStay(world, session) === undefined)
      world.fail('retention', `${session.session_id} is over, and was left`)
}

function reasonToStay({ watch }: World, { n, session_id }: SessionState): string | undefined {
  for (const { session, dispatch_id, status } of watch.dispatches.values())
    if (session === n && !isTerminal(status)) return `${dispatch_id} is ${status}`
  // That an approval has expired, or was denied, is told with whatever comes next; by itself it is nothing that anybody waits for.
  const over = new Set(
    [...watch.approvals.values()].flatMap(({ id, status }) =>
      status === 'expired' || status === 'denied' ? [approvalObservationId(id)] : [],
    ),
  )
  const unread = watch.unread(n).find(({ id }) => !over.has(id))
  if (unread) return `${unread.id} is unread`
  for (const listed of [watch.approvals, watch.unknowns])
    for (const { id, status } of listed.values())
      if (status === 'open' && sessionOf(id) === session_id) return `${id} is open`
  return undefined
}
