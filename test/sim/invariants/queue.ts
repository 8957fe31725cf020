/** The queue's rows: which status changes are allowed, who holds a dispatch, when it is poison, and what wakes it. */

import {
  canMove,
  DISPATCH_STATUSES,
  type DispatchStatus,
  isTerminal,
  MAX_CRASHES_WITHOUT_RECORD,
} from '../../../src/domain/dispatch.ts'
import type { Observation } from '../../../src/domain/observation.ts'
import { type Wait, wakesWait } from '../../../src/domain/wait.ts'
import type { Batch, BatchOutcome, Op, OpResults } from '../../../src/ports/store.ts'

export interface DispatchRow {
  readonly n: number
  readonly dispatch_id: string
  readonly session: number
  readonly workspace: string
  readonly status: DispatchStatus
  readonly token: number
  readonly epoch: number | null
  readonly attempts: number
  readonly prompt: string
  readonly priority: number
  readonly wait: Wait | null
  /** The raw column. */
  readonly rawWait: string | null
  readonly due: number | null
}

/** State that the rows alone do not show. */
export interface CrashStreak {
  /** Crashes in a row without a new record. */
  crashesWithoutRecord: number
  /** Whether a record was written since the claim. */
  wrote: boolean
}

export type Fail = (invariant: string, message: string) => void

export interface StatusChange {
  readonly was: DispatchRow
  readonly is: DispatchRow
  readonly ops: ReadonlySet<Op['op']>
  /** Whether it was recovered from a process that died. */
  readonly crashed: boolean
  /** Number of applied batches: one group may take a dispatch through several states. */
  readonly batches: number
  readonly epoch: number | undefined
}

export function checkRow(row: DispatchRow, fail: Fail): void {
  const { dispatch_id, status, wait, due, epoch } = row
  const waiting = status === 'waiting'
  if (waiting !== (wait !== null) || due !== (wait?.until ?? null))
    fail('queue', `${dispatch_id} is ${status}, waits for ${JSON.stringify(wait)}, due ${due}`)
  if ((status === 'running') !== (epoch !== null)) fail('claim', `${dispatch_id} is ${status} and held by ${epoch}`)
  if (waiting && wait?.kind !== 'unknown' && due === null) fail('queue', `${dispatch_id} waits without a deadline`)
}

export function checkStatusChange(
  { was, is, ops, crashed, batches, epoch }: StatusChange,
  streak: CrashStreak,
  fail: Fail,
): void {
  const { dispatch_id } = is
  if (!canReach(was.status, is.status, batches))
    fail('dispatch.ts: canMove', `${dispatch_id}: ${was.status} → ${is.status}`)
  const claimed = is.status === 'running' && (was.status !== 'running' || was.token !== is.token)
  const taken = was.status === 'running' && was.epoch === epoch && (is.status === 'pending' || claimed)
  // Only its own run releases a dispatch of a live process: as pending, or parked and woken in the same group.
  if (taken && !(['release', 'park', 'leave'] as const).some((op) => ops.has(op)))
    fail('I1', `${dispatch_id} was taken from a run of epoch ${epoch}, which is alive`)
  if (claimed) {
    if (is.token !== was.token + 1)
      fail('claim', `${dispatch_id} was claimed with token ${is.token} after ${was.token}`)
    if (is.epoch !== epoch) fail('I1', `${dispatch_id} is held by epoch ${is.epoch}, claimed by ${epoch}`)
    streak.wrote = false
  } else if (is.token !== was.token) fail('claim', `${dispatch_id}: token ${was.token} → ${is.token} without a claim`)
  if (was.status === 'running' && crashed && (is.status === 'pending' || is.status === 'dead')) {
    streak.crashesWithoutRecord = streak.wrote ? 0 : streak.crashesWithoutRecord + 1
    const due = streak.crashesWithoutRecord >= MAX_CRASHES_WITHOUT_RECORD ? 'dead' : 'pending'
    if (is.status !== due)
      fail(
        'poison work',
        `${dispatch_id} crashed ${streak.crashesWithoutRecord} times in a row without a record and is ${is.status}`,
      )
  } else if (is.status === 'dead' && was.status !== 'dead')
    fail('poison work', `${dispatch_id} is dead without a crash`)
  if (was.status === 'running' && is.status === 'waiting' && !ops.has('park'))
    fail('queue', `${dispatch_id} waits without being parked`)
  if (was.status === 'running' && isTerminal(is.status) && is.status !== 'dead' && !ops.has('settle'))
    fail('I3', `${dispatch_id} is ${is.status} without being settled`)
}

/**
 * Highest priority first, then oldest, but none whose workspace is in use; `last` ones after the others of their
 * priority. `claimed`: in the order of the claim.
 */
export function checkOrder(
  rows: readonly DispatchRow[],
  claimed: readonly string[],
  last: readonly string[],
  fail: Fail,
): void {
  const place = ({ dispatch_id }: DispatchRow): number => last.indexOf(dispatch_id)
  const inUse = new Set(rows.filter(({ status }) => status === 'running').map(({ workspace }) => workspace))
  const due: DispatchRow[] = []
  const pending = rows.filter(({ status }) => status === 'pending')
  for (const row of pending.toSorted((a, b) => b.priority - a.priority || place(a) - place(b) || a.n - b.n)) {
    if (due.length >= claimed.length || inUse.has(row.workspace)) continue
    inUse.add(row.workspace)
    due.push(row)
  }
  const expected = due.map(({ dispatch_id }) => dispatch_id).join(', ')
  if (expected !== claimed.join(', ')) fail('claim', `${claimed.join(', ')} was claimed before ${expected}`)
}

/** The dispatches that a commit took from lost processes. */
export function recoveredIds(batches: readonly Batch[], outcomes: readonly BatchOutcome[]): ReadonlySet<string> {
  const results = batches.flatMap(({ ops }, i) => {
    const outcome = outcomes[i]
    return outcome?.ok ? ops.flatMap(({ op }, at) => (op === 'recover' ? [outcome.results[at]] : [])) : []
  }) as readonly OpResults['recover'][]
  return new Set(results.flatMap(({ recovered, dead }) => [...recovered, ...dead]))
}

export function checkTally(
  dispatches: Iterable<DispatchRow>,
  tally: readonly Record<string, unknown>[],
  fail: Fail,
): void {
  const rows = new Map<string, number>()
  for (const { status } of dispatches) rows.set(status, (rows.get(status) ?? 0) + 1)
  for (const { status, n } of tally)
    if (Number(n) !== (rows.get(String(status)) ?? 0))
      fail('tally', `${status}: the tally is ${n}, there are ${rows.get(String(status)) ?? 0} rows`)
}

/** Case 74: no two dispatches run in one workspace. */
export function checkWorkspaces(rows: readonly DispatchRow[], fail: Fail): void {
  const inUse = new Set<string>()
  for (const { status, workspace } of rows) {
    if (status !== 'running') continue
    if (inUse.has(workspace)) fail('case 74', `several dispatches run in ${workspace}`)
    inUse.add(workspace)
  }
}

function canReach(from: DispatchStatus, to: DispatchStatus, moves: number): boolean {
  if (from === to) return true
  if (canMove(from, to)) return true
  return moves > 1 && DISPATCH_STATUSES.some((via) => canMove(from, via) && canReach(via, to, moves - 1))
}

/** No lost wake-up: a waiting run has no unread input that would wake it. */
export function checkWaiting(
  row: DispatchRow,
  unread: readonly Observation[],
  resolved: (id: string) => boolean,
  fail: Fail,
): void {
  if (!row.wait) return
  for (const observation of unread)
    if (!observation.quiet && wakesWait(row.wait, observation))
      fail('no lost wake-up', `${row.dispatch_id} waits for ${row.wait.kind} while ${observation.id} is unread`)
  if (row.wait.kind === 'unknown' && resolved(row.wait.unknown_id))
    fail('no lost wake-up', `${row.dispatch_id} waits for a resolution of ${row.wait.unknown_id}, which is resolved`)
}

export function dispatchRow(row: Record<string, unknown>): DispatchRow {
  const wait = row.wait === null ? null : (JSON.parse(String(row.wait)) as Wait)
  return { ...row, wait, rawWait: row.wait } as unknown as DispatchRow
}

export function isUnchanged(was: DispatchRow, row: Record<string, unknown>): boolean {
  return was.status === row.status && was.token === row.token && was.epoch === row.epoch && was.rawWait === row.wait
}
