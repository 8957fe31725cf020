/** Approvals: nothing that has to be allowed is run without, each is answered once and used once, and what was allowed is done. */

import { isApprovalAnswer } from '../../../src/domain/approval.ts'
import type { Observation } from '../../../src/domain/observation.ts'
import { sessionIdOf } from '../ground-truth.ts'
import type { World } from '../world.ts'
import type { Fail } from './queue.ts'
import type { SessionState, TurnState } from './session.ts'

export interface ApprovalRow {
  readonly id: string
  readonly status: string
  readonly tool: string
  readonly args: string
  readonly expires_at: number
}

export type Approvals = ReadonlyMap<string, ApprovalRow>

export function checkAnswersUnchanged(before: Approvals, now: Approvals, fail: Fail): void {
  for (const { id, status } of before.values()) {
    const is = now.get(id)?.status
    if (status !== 'open' && is !== status) fail('approval', `${id} was ${status}, and is ${is}`)
  }
}

/** A call is about to be run: by leave, where it takes one, and as what was allowed. */
export function checkApproved(
  session: SessionState,
  open: TurnState,
  call: { readonly index: number; readonly tool: string; readonly args: string },
  by: {
    readonly approvals: Approvals
    needsApproval(session_id: string, tool: string, args: string): boolean
    fail: Fail
  },
): void {
  const { index, tool, args } = call
  const fail = (message: string): void => by.fail('approval', `${session.session_id} turn ${open.turn}: ${message}`)
  const id = approvalIdOf(open, index)
  if (id === undefined) {
    if (by.needsApproval(session.session_id, tool, args)) fail(`${tool} ${args} is run, and nobody has allowed it`)
    return
  }
  const row = by.approvals.get(id)
  if (row?.status !== 'allowed') fail(`${id} is ${row?.status}, and is run`)
  if (row?.tool !== tool || row.args !== args) fail(`${id} allows ${row?.tool} ${row?.args}; it ran ${tool} ${args}`)
  if (session.usedApprovals.has(id)) fail(`${id} is used a second time`)
  session.usedApprovals.add(id)
}

const approvalIdOf = ({ decided }: TurnState, index: number): string | undefined =>
  decided?.kind === 'act' ? decided.calls[index]?.approval : undefined

/** What has not begun has not used its leave up. */
export function releaseApproval(session: SessionState, open: TurnState, index: number): void {
  const id = approvalIdOf(open, index)
  if (id !== undefined) session.usedApprovals.delete(id)
}

/**
 * Case 55: one that waits for leave is listed with its result, and nothing of its turn has begun; but what an earlier process began cannot be taken
 * back where a gate asks by now that did not ask before.
 */
export function checkParked(
  session: SessionState,
  open: TurnState,
  index: number,
  { approvals, proc, fail }: { readonly approvals: Approvals; readonly proc: number; readonly fail: Fail },
): void {
  const id = `${session.session_id}.${open.turn}.${index}`
  if (!approvals.has(id)) fail('approval', `${id} is parked, and nobody can see it`)
  if ([...open.calls.values()].some(({ intendedBy }) => intendedBy === proc))
    fail('approval', `${id} is parked, and others of its turn were run`)
}

/** One that nobody answered in time, or before its run ended, is told with whatever comes next. */
export function mayStayUnread(observation: Observation): boolean {
  return (
    isApprovalAnswer(observation) && /"answer":"expired"|"reason":"the run ended: /.test(JSON.stringify(observation))
  )
}

/** With a run that is over goes what nobody has answered. `isInFlight`: of that session. */
export function checkNoOrphanedApproval(
  approvals: Approvals,
  isInFlight: (session_id: string) => boolean,
  fail: Fail,
): void {
  for (const { id, status } of approvals.values())
    if (status === 'open' && !isInFlight(sessionIdOf(id))) fail('approval', `${id} is open, and its run is over`)
}

export function checkApprovalsUsed(world: World): void {
  const { mirror } = world
  const decidedApprovals = new Set(
    [...mirror.sessions.values()].flatMap(({ decidedApprovals }) => [...decidedApprovals]),
  )
  const unread = new Set([...mirror.inbox.values()].flatMap(({ read, observation }) => (read ? [] : observation.id)))
  for (const { id, status } of mirror.approvals.values()) {
    if (status === 'open') world.fail('approval', `${id} is still open`)
    if (status === 'allowed' && !decidedApprovals.has(id) && !unread.has(`approval-${id}`))
      world.fail('approval', `${id} was allowed, and nothing came of it`)
  }
}
