/** Observations: none is lost or consumed twice, and each is marked as read with the step that consumed it. */

import { isTerminal } from '../../../src/domain/dispatch.ts'
import type { Observation } from '../../../src/domain/observation.ts'
import type { Batch } from '../../../src/ports/store.ts'
import { mayStayUnread } from './approvals.ts'
import type { DispatchRow, Fail } from './queue.ts'
import { isAgentResult } from './sub-agents.ts'

export interface InboxRow {
  /** Session number and observation id. */
  readonly key: string
  readonly session: number
  readonly observation: Observation
  readonly read: boolean
}

type Inbox = ReadonlyMap<string, InboxRow>

/** `closed`: observations whose step was committed with an answer in this group. */
export function checkAcknowledged(
  before: Inbox,
  now: Inbox,
  done: readonly Batch[],
  closed: readonly string[],
  fail: Fail,
): void {
  for (const [key, row] of now) {
    const was = before.get(key)
    if (row.read && !was?.read && !closed.includes(key))
      fail('I3', `${key} was acknowledged without the step that consumed it`)
    if (!row.read && was?.read) fail('incoming message', `${key} was read and is unread again`)
  }
  for (const key of before.keys()) if (!now.has(key)) fail('incoming message', `${key} was deleted`)
  const acknowledges = done.some((batch) => batch.ops.some(({ op }) => op === 'acknowledge'))
  if (!acknowledges) return
  for (const key of closed) if (now.get(key)?.read === false) fail('I3', `${key} was consumed and stays unread`)
}

/** Unread input has a dispatch that will read it, or a run that failed over it. */
export function checkInbox(inbox: Inbox, latest: ReadonlyMap<number, DispatchRow>, fail: Fail): void {
  for (const { key, session, read, observation } of inbox.values()) {
    if (read || observation.quiet || mayStayUnread(observation) || isAgentResult(observation.id)) continue
    const row = latest.get(session)
    if (!row || (isTerminal(row.status) && row.status === 'done'))
      fail('incoming message', `${key} is unread, and nothing will ever read it`)
  }
}
