/** Retention: a deleted session has ended and is needed by nothing; a session that is left at the end has a reason. */

import { approvalObservationId } from '../../../src/domain/approval.ts'
import { isTerminal } from '../../../src/domain/dispatch.ts'
import { sessionIdOf } from '../ground-truth.ts'
import type { World } from '../world.ts'
import { checkEffectsRecorded } from './effects.ts'
import type { SessionState } from './session.ts'
import { isAgentResult } from './sub-agents.ts'

/** Drops what retention deleted from the mirror. `left`: the row numbers of the sessions that are still there. */
export function dropPruned(world: World, left: ReadonlySet<number>): void {
  const { mirror, counters } = world
  for (const session of [...mirror.sessions.values()]) {
    const { n, session_id } = session
    if (left.has(n)) continue
    const reason = reasonToKeep(world, session)
    if (reason !== undefined) world.fail('retention', `${session_id} was deleted, although ${reason}`)
    checkEffectsRecorded(world, session_id)
    mirror.sessions.delete(n)
    mirror.byId.delete(session_id)
    world.conversations.forget(session_id)
    mirror.pruned.add(session_id)
    for (const row of [...mirror.dispatches.values()])
      if (row.session === n && mirror.dispatches.delete(row.dispatch_id)) mirror.pruned.add(row.dispatch_id)
    for (const row of [...mirror.inbox.values()]) if (row.session === n) mirror.inbox.delete(row.key)
    for (const listed of [mirror.unknowns, mirror.approvals])
      for (const id of [...listed.keys()]) if (sessionIdOf(id) === session_id) listed.delete(id)
    counters.add('session deleted by retention')
  }
}

/** Called at rest, after retention of everything old. */
export function checkNothingPrunable(world: World): void {
  for (const session of world.mirror.sessions.values())
    if (reasonToKeep(world, session) === undefined)
      world.fail('retention', `${session.session_id} has ended and was not deleted`)
}

function reasonToKeep({ mirror }: World, { n, session_id }: SessionState): string | undefined {
  for (const { session, dispatch_id, status } of mirror.dispatches.values())
    if (session === n && !isTerminal(status)) return `${dispatch_id} is ${status}`
  // The answer to an expired or denied approval is delivered with the next input; alone it keeps no session.
  const over = new Set(
    [...mirror.approvals.values()].flatMap(({ id, status }) =>
      status === 'expired' || status === 'denied' ? [approvalObservationId(id)] : [],
    ),
  )
  const unread = mirror.unread(n).find(({ id }) => !over.has(id) && !isAgentResult(id))
  if (unread) return `${unread.id} is unread`
  for (const listed of [mirror.approvals, mirror.unknowns])
    for (const { id, status } of listed.values())
      if (status === 'open' && sessionIdOf(id) === session_id) return `${id} is open`
  return undefined
}
