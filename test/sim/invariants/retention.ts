/** Retention: what it takes away is over, and nobody waits for anything of it; what is left when everything old may go has a reason. */

import { approvalObservationId } from '../../../src/domain/approval.ts'
import { isTerminal } from '../../../src/domain/dispatch.ts'
import { sessionIdOf } from '../ground-truth.ts'
import type { World } from '../world.ts'
import { checkEffectsRecorded } from './effects.ts'
import type { SessionState } from './session.ts'

/** Of what retention took away nothing is left to be held against the rows. `left`: the numbers of the sessions that are still there. */
export function dropPruned(world: World, left: ReadonlySet<number>): void {
  const { mirror, counters } = world
  for (const session of [...mirror.sessions.values()]) {
    const { n, session_id } = session
    if (left.has(n)) continue
    const reason = reasonToKeep(world, session)
    if (reason !== undefined) world.fail('retention', `${session_id} was taken away, and ${reason}`)
    checkEffectsRecorded(world, session_id)
    mirror.sessions.delete(n)
    mirror.byId.delete(session_id)
    mirror.pruned.add(session_id)
    for (const row of [...mirror.dispatches.values()])
      if (row.session === n && mirror.dispatches.delete(row.dispatch_id)) mirror.pruned.add(row.dispatch_id)
    for (const row of [...mirror.inbox.values()]) if (row.session === n) mirror.inbox.delete(row.key)
    for (const listed of [mirror.unknowns, mirror.approvals])
      for (const id of [...listed.keys()]) if (sessionIdOf(id) === session_id) listed.delete(id)
    counters.add('session taken away by retention')
  }
}

/** When everything has come to rest, and all that is old was taken away. */
export function checkNothingPrunable(world: World): void {
  for (const session of world.mirror.sessions.values())
    if (reasonToKeep(world, session) === undefined)
      world.fail('retention', `${session.session_id} is over, and was left`)
}

function reasonToKeep({ mirror }: World, { n, session_id }: SessionState): string | undefined {
  for (const { session, dispatch_id, status } of mirror.dispatches.values())
    if (session === n && !isTerminal(status)) return `${dispatch_id} is ${status}`
  // That an approval has expired, or was denied, is told with whatever comes next; by itself it is nothing that anybody waits for.
  const over = new Set(
    [...mirror.approvals.values()].flatMap(({ id, status }) =>
      status === 'expired' || status === 'denied' ? [approvalObservationId(id)] : [],
    ),
  )
  const unread = mirror.unread(n).find(({ id }) => !over.has(id))
  if (unread) return `${unread.id} is unread`
  for (const listed of [mirror.approvals, mirror.unknowns])
    for (const { id, status } of listed.values())
      if (status === 'open' && sessionIdOf(id) === session_id) return `${id} is open`
  return undefined
}
