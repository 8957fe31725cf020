/**
 * Approvals: no call that needs one runs without it; each is answered once, used once, and acted on once it is allowed.
 */

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
  readonly answer_reason: string | null
}

export type Approvals = ReadonlyMap<string, ApprovalRow>

/** Only the end of a cancelled run takes back what was allowed and not yet read. */
export function checkAnswersUnchanged(before: Approvals, now: Approvals, fail: Fail): void {
  for (const { id, status } of before.values()) {
    const { status: is, answer_reason } = now.get(id) ?? {}
    const isWithdrawn = status === 'allowed' && is === 'denied' && answer_reason === 'the run was cancelled'
    if (status !== 'open' && is !== status && !isWithdrawn) fail('approval', `${id} was ${status}, and is ${is}`)
  }
}

/** A call is about to run: it needs an approval where the gate asks, and must match what was allowed. */
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
    if (by.needsApproval(session.session_id, tool, args)) fail(`${tool} ${args} is run without approval`)
    return
  }
  const row = by.approvals.get(id)
  if (row?.status !== 'allowed') fail(`${id} is ${row?.status}, and its call is run`)
  if (row?.tool !== tool || row.args !== args) fail(`${id} allows ${row?.tool} ${row?.args}; it ran ${tool} ${args}`)
  if (session.usedApprovals.has(id)) fail(`${id} is used a second time`)
  session.usedApprovals.add(id)
}

const approvalIdOf = ({ decided }: TurnState, index: number): string | undefined =>
  decided?.kind === 'act' ? decided.calls[index]?.approval : undefined

/** A call that did not start has not used its approval. */
export function releaseApproval(session: SessionState, open: TurnState, index: number): void {
  const id = approvalIdOf(open, index)
  if (id !== undefined) session.usedApprovals.delete(id)
}

/**
 * Case 55: a parked call is listed with its result, and no call of its turn has started. Exception: calls that an
 * earlier process started before the gate asked.
 */
export function checkParked(
  session: SessionState,
  open: TurnState,
  index: number,
  { approvals, proc, fail }: { readonly approvals: Approvals; readonly proc: number; readonly fail: Fail },
): void {
  const id = `${session.session_id}.${open.turn}.${index}`
  if (!approvals.has(id)) fail('approval', `${id} is parked, and is not listed`)
  if ([...open.calls.values()].some(({ intendedBy }) => intendedBy === proc))
    fail('approval', `${id} is parked, and other calls of its turn were run`)
}

/** An answer that expired, or was denied because its run ended, is delivered with the next input. */
export function mayStayUnread(observation: Observation): boolean {
  return (
    isApprovalAnswer(observation) && /"answer":"expired"|"reason":"the run ended: /.test(JSON.stringify(observation))
  )
}

/** No approval stays open after its run has ended. `isInFlight`: whether a session has unfinished work. */
export function checkNoOrphanedApproval(
  approvals: Approvals,
  isInFlight: (session_id: string) => boolean,
  fail: Fail,
): void {
  for (const { id, status } of approvals.values())
    if (status === 'open' && !isInFlight(sessionIdOf(id))) fail('approval', `${id} is open, and its run has ended`)
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
      world.fail('approval', `${id} was allowed, and its call was never run`)
  }
}
