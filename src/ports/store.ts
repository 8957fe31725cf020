/**
 * Store: all durable data. A write is a list of batches of operations: `commit(batches)` returns an outcome per batch,
 * so that a batch with a stale fence fails alone while the other batches share one fsync.
 */

import type { Approval, ApprovalStatus } from '../domain/approval.ts'
import type { AuditEntry, AuditLink } from '../domain/audit.ts'
import type { Cycle, CycleResult } from '../domain/cycle.ts'
import type { CancelMode, Dispatch, DispatchStatus, NewDispatch } from '../domain/dispatch.ts'
import type { Document, DocumentVersion } from '../domain/document.ts'
import { TirelessError } from '../domain/error.ts'
import type { Fact, NewFact } from '../domain/fact.ts'
import type { Grant } from '../domain/grant.ts'
import type { JournalRecord, Usage } from '../domain/journal-record.ts'
import type { Json } from '../domain/json.ts'
import type { Label } from '../domain/label.ts'
import type { ModelSelection } from '../domain/model-selection.ts'
import type { Cap, Spend } from '../domain/money.ts'
import type { Observation } from '../domain/observation.ts'
import type { NewScheduleEntry, ScheduleEntry, ScheduleMark } from '../domain/schedule.ts'
import type { Session } from '../domain/session.ts'
import type { FailureClass } from '../domain/stop-reason.ts'
import type { Resolution, UnknownOutcome } from '../domain/unknown-outcome.ts'
import type { SetAsideRow, UnreadableRow } from '../domain/unreadable-row.ts'
import type { Wait } from '../domain/wait.ts'
import type { OutboxOp, OutboxReads, OutboxResults } from './outbox.ts'

export interface Fence {
  readonly dispatch_id: string
  readonly token: number
}

/** An op that depends on the time carries it; a store has no clock. */
export type Op =
  | OutboxOp
  /** Starts a worker's epoch. `alone`: the caller holds the home's lock, so every other worker is dead. */
  | {
      readonly op: 'join'
      readonly name: string
      readonly now: number
      readonly lease_until: number
      readonly alone: boolean
    }
  | { readonly op: 'beat'; readonly epoch: number; readonly lease_until: number }
  /** Ends the epoch; its running dispatches become pending. */
  | { readonly op: 'leave'; readonly epoch: number; readonly now: number }
  /**
   * Running dispatches of workers with an expired lease become pending, or dead after too many crashes. Open approvals
   * of a dead dispatch are denied, as by `settle`.
   */
  | { readonly op: 'recover'; readonly now: number }
  /**
   * Adds dispatches, all or none. If `source` and `key` are known, the result is the id of the existing dispatch. A
   * child of a paused dispatch is paused.
   */
  | { readonly op: 'enqueue'; readonly dispatches: readonly NewDispatch[]; readonly now: number }
  /**
   * Takes up to `limit` pending dispatches for a worker: highest priority first, then oldest; at most one per session.
   * Each gets a new token. `only` and `except`: ids of dispatches to consider, or to leave out.
   */
  | {
      readonly op: 'claim'
      readonly epoch: number
      readonly limit: number
      readonly now: number
      readonly only?: readonly string[]
      readonly except?: readonly string[]
    }
  /**
   * Handles due timers: their dispatches become pending, with an observation if a wait reached its deadline. Approvals
   * that were not answered in time expire. An observation about that wakes the waiting dispatch; a session without
   * active work gets the observation with its next input.
   */
  | { readonly op: 'promote'; readonly now: number }
  /** Appends records to a session's journal; refused unless their `seq` continues it. */
  | { readonly op: 'append'; readonly session_id: string; readonly records: readonly JournalRecord[] }
  | {
      readonly op: 'acknowledge'
      readonly session_id: string
      readonly observation_ids: readonly string[]
      readonly now: number
    }
  /**
   * Needs the fence. Ends the run. If the status is `done` and there is unread input, a new dispatch of the session is
   * created in this commit. Open approvals of the session are denied with a reason, which the session gets with its
   * next input.
   */
  | {
      readonly op: 'settle'
      readonly status: 'done' | 'failed' | 'cancelled'
      readonly result: string | null
      readonly error: string | null
      readonly failure_class: FailureClass | null
      /** Id of the dispatch created for unread input. */
      readonly successor_id: string
      readonly now: number
    }
  /**
   * Needs the fence. Parks the run, unless unread input already matches the wait (checked inside the transaction). A
   * dispatch with a cancel request becomes pending at once.
   */
  | { readonly op: 'park'; readonly wait: Wait; readonly now: number }
  /** Needs the fence. Returns the dispatch to the queue as pending. */
  | { readonly op: 'release'; readonly now: number }
  /**
   * Cancels a dispatch and its descendants. A dispatch that never ran is settled at once; a waiting dispatch is woken
   * so that its run can end; a running dispatch is signalled by its worker; a finished dispatch is unchanged. Open
   * approvals of its session are denied when the dispatch ends. `reason`: stored for a dispatch that never ran.
   */
  | {
      readonly op: 'cancel'
      readonly dispatch_id: string
      readonly how: CancelMode
      readonly now: number
      readonly reason?: string
    }
  /** Pauses or resumes a dispatch and its descendants. A paused dispatch is not claimed; a run in progress goes on. */
  | { readonly op: 'pause'; readonly dispatch_id: string; readonly paused: boolean; readonly now: number }
  /**
   * Makes a failed or dead dispatch pending again, as if it were new. A `conflict` for any other status, and while its
   * session is active.
   */
  | { readonly op: 'retry'; readonly dispatch_id: string; readonly now: number }
  /** Archives a session, or restores it; a `conflict` while the session is active. */
  | { readonly op: 'archive'; readonly session_id: string; readonly archived: boolean; readonly now: number }
  /**
   * Adds an observation to the inbox, once per id. Restores an archived session, wakes a dispatch that waits for this
   * observation, and creates a dispatch for an idle session.
   */
  | {
      readonly op: 'publish'
      readonly session_id: string
      readonly observation: Observation
      readonly successor_id: string
      readonly now: number
    }
  /** Inserts or updates an unknown outcome. */
  | { readonly op: 'unknown'; readonly unknown: UnknownOutcome }
  /** Sets the model of a scope; null removes the selection. */
  | { readonly op: 'select'; readonly scope: string; readonly model: string | null; readonly now: number }
  /**
   * Reserves money before a call. If a cap would be exceeded, nothing is reserved and the result names the cap. `usd`
   * is in millionths. Earlier reservations of the same dispatch that were never settled are booked as spent.
   */
  | ({ readonly op: 'reserve'; readonly id: string; readonly usd: number; readonly caps: readonly Cap[] } & Spender)
  /** Books the actual cost of a call, also without a reservation of that id. */
  | ({ readonly op: 'spent'; readonly id: string; readonly usd: number; readonly usage: Usage } & Spender)
  /** Releases a reservation: the call cost nothing. No effect if there is none. */
  | { readonly op: 'unspent'; readonly id: string }
  /**
   * Starts a cycle; commit it before any work of the cycle. An unfinished cycle of the same kernel, whose process is
   * gone, is ended with an error; its open dispatches, and those of the cycle before it, pass to the new cycle.
   */
  | {
      readonly op: 'cycle_begin'
      readonly cycle_id: string
      readonly kernel_id: string
      readonly trigger: string
      readonly due: number | null
      readonly now: number
    }
  /** Ends a cycle, once. `open`: dispatches that have not finished. */
  | {
      readonly op: 'cycle_end'
      readonly result: CycleResult
      readonly open: readonly string[]
      readonly now: number
    }
  /** Stores a setting, such as that the kernel is paused; null deletes it. */
  | { readonly op: 'set'; readonly name: string; readonly value: Json }
  /** A person's answer about an unknown outcome; wakes the dispatch that waits for the answer. */
  | { readonly op: 'resolve'; readonly unknown_id: string; readonly as: Resolution; readonly now: number }
  /** Inserts an open approval, once per id. */
  | { readonly op: 'ask'; readonly approval: Approval }
  /**
   * A person's answer to an open approval, once; published to its session in the same commit. A `conflict` if the
   * approval has expired, or if the answer would allow a call of a session without active work.
   */
  | {
      readonly op: 'answer'
      readonly approval_id: string
      readonly answer: 'allowed' | 'denied'
      readonly reason: string | null
      readonly now: number
    }
  /** Adds a standing permission of the owner, once per id. */
  | { readonly op: 'grant'; readonly grant: Grant }
  | { readonly op: 'revoke'; readonly id: string }
  /**
   * Lowers a label; a label never rises, except that null (an act of the owner) removes it. `of`: names the workspace
   * or document section.
   */
  | { readonly op: 'label'; readonly of: string; readonly label: Label | null }
  /** Appends to the audit log; each entry is chained to all earlier ones. */
  | { readonly op: 'audit'; readonly entry: AuditEntry }
  /**
   * Stores a fact, once per id. It supersedes the agent's fact with the same key. Over the limit, the oldest facts are
   * dropped. Superseded and dropped facts are kept within a limit.
   */
  | { readonly op: 'remember'; readonly fact: NewFact; readonly now: number }
  /** Deletes an agent's facts of a key, current and superseded, written up to `before`. Their text is erased. */
  | { readonly op: 'forget'; readonly agent_id: string; readonly key: string; readonly before: number }
  /** Adds a schedule; beats up to `now` never fire. An existing id is a `conflict`. */
  | { readonly op: 'schedule_put'; readonly entry: NewScheduleEntry; readonly now: number }
  | { readonly op: 'schedule_remove'; readonly id: string }
  /** Pauses or resumes a schedule. Beats that were due during the pause never fire. */
  | { readonly op: 'schedule_pause'; readonly id: string; readonly paused: boolean; readonly now: number }
  /**
   * Returns how far a schedule (added or configured) has come. The first call for a schedule sets that to `now`:
   * earlier beats never fire.
   */
  | { readonly op: 'schedule_open'; readonly id: string; readonly now: number }
  /** Records a beat: commit it with the work it triggers. No beat up to its instant fires again. */
  | { readonly op: 'schedule_fired'; readonly id: string; readonly instant: number }
  /**
   * Writes the next version of a document; a `conflict` unless `base` is the digest of the latest version (null: there
   * is none). The same text makes no new version. Over the limit, the oldest versions are dropped, never the latest.
   */
  | {
      readonly op: 'document'
      readonly kernel_id: string
      readonly name: string
      readonly base: string | null
      readonly text: string
      readonly author: string
      readonly reason: string
      readonly cycle_id: string | null
      readonly now: number
    }
  /**
   * Deletes up to `limit` sessions with no activity since `before` and nothing open, oldest first, with all their data.
   * Also deletes some older cycles and sent messages. Facts, spending and the audit log stay.
   */
  | { readonly op: 'prune'; readonly before: number; readonly limit: number }
  /**
   * Moves unreadable rows to `set_aside` unchanged. A session whose row or journal is unreadable moves as a whole. Rows
   * that others depend on are replaced by a safe value: the lowest label, the document's text as its latest version,
   * an expired approval for a run that waits for it. Audit entries stay.
   */
  | { readonly op: 'set_aside'; readonly rows: readonly UnreadableRow[]; readonly now: number }
  /** Records the last known content of a document's file. */
  | { readonly op: 'project'; readonly kernel_id: string; readonly name: string; readonly text: string }

/** What the cost of a model call is booked under. `day`: such as `2030-01-31`, in the owner's time zone. */
export interface Spender {
  readonly kernel_id: string
  readonly agent_id: string
  readonly dispatch_id: string
  readonly model: string
  readonly day: string
}

export interface OpResults extends OutboxResults {
  join: { readonly epoch: number }
  beat: { readonly alive: boolean }
  leave: { readonly released: number }
  /** `lost`: workers that ended without leaving. */
  recover: { readonly lost: number; readonly recovered: readonly string[]; readonly dead: readonly string[] }
  enqueue: readonly { readonly dispatch_id: string; readonly session_id: string; readonly duplicate: boolean }[]
  claim: readonly Dispatch[]
  promote: { readonly promoted: number }
  append: { readonly head: number }
  acknowledge: { readonly acknowledged: number }
  settle: { readonly successor: string | null }
  park: { readonly parked: boolean }
  release: null
  /** The affected dispatches with their former status; finished ones are left out. */
  cancel: readonly { readonly dispatch_id: string; readonly status: DispatchStatus }[]
  pause: readonly { readonly dispatch_id: string; readonly status: DispatchStatus }[]
  retry: null
  archive: null
  publish: { readonly duplicate: boolean; readonly dispatch_id: string | null }
  unknown: null
  select: null
  /** `interrupted`: cycles that were ended with an error. `left`: dispatches that no earlier cycle saw finish. */
  cycle_begin: { readonly interrupted: readonly string[]; readonly left: readonly string[] }
  cycle_end: null
  set: null
  /**
   * `used`: the amount that counts against the cap; `reserved`: the part of it that is reserved for calls without an
   * answer.
   */
  reserve: { readonly refused: { readonly cap: Cap; readonly used: number; readonly reserved: number } | null }
  spent: null
  unspent: null
  resolve: { readonly unknown: UnknownOutcome }
  ask: null
  answer: { readonly approval: Approval; readonly dispatch_id: string | null }
  grant: null
  revoke: { readonly revoked: boolean }
  label: null
  audit: { readonly n: number; readonly before: string; readonly hash: string }
  remember: { readonly superseded: boolean; readonly dropped: readonly string[] }
  /** `forgotten`: whether there was a current fact with that key. */
  forget: { readonly forgotten: boolean }
  schedule_put: null
  schedule_remove: { readonly removed: boolean }
  schedule_pause: null
  /** No beat up to the instant `until` fires. */
  schedule_open: { readonly until: number }
  /** `first`: false if the instant already fired or was skipped. */
  schedule_fired: { readonly first: boolean }
  /** The latest version, without its text. */
  document: DocumentVersion & { readonly changed: boolean }
  project: null
  set_aside: { readonly moved: number }
  /** Ids of the deleted runs. */
  prune: { readonly runs: readonly string[] }
}

export interface Batch {
  readonly fence?: Fence
  readonly ops: readonly Op[]
}

/**
 * `store_invalid`: the batch contains a value that could be written but not read back. `row_unreadable`: an affected
 * row cannot be read.
 */
export type RefusalCode =
  | 'store_fenced'
  | 'store_sequence'
  | 'store_invalid'
  | 'row_unreadable'
  | 'not_found'
  | 'conflict'

export type BatchOutcome =
  | { readonly ok: true; readonly results: readonly unknown[] }
  | { readonly ok: false; readonly code: RefusalCode; readonly message: string }

export type DispatchCounts = Readonly<Record<DispatchStatus, number>>

export interface Worker {
  readonly epoch: number
  readonly name: string
  readonly lease_until: string
}

export interface PageLimit {
  readonly limit: number
}

/** A search for facts. Without `agent_id`: facts of all agents. */
export interface FactQuery extends PageLimit {
  readonly agent_id?: string | undefined
  readonly text: string
  readonly now: number
}

export interface Store extends OutboxReads {
  /**
   * Contract: each batch is atomic and independent; outcomes in order. A batch with a fence is refused unless that
   * dispatch is running under that token. Resolves after fsync. If a write or fsync fails, this call and every later
   * call reject with `store_failed`: nothing is acknowledged after a failed sync.
   */
  commit(batches: readonly Batch[]): Promise<readonly BatchOutcome[]>

  // Contract of all reads: they see every commit acknowledged before the call. Lists leave out unreadable rows; a read
  // of a single unreadable row rejects with `row_unreadable`; see `skipped`.
  dispatch(id: string): Promise<Dispatch | undefined>
  dispatches(
    filter: { readonly status?: DispatchStatus | undefined; readonly agent_id?: string | undefined } & PageLimit,
  ): Promise<readonly Dispatch[]>
  counts(): Promise<DispatchCounts>
  /**
   * Contract: the agent's latest dispatches, newest first. The cost does not grow with the number of its dispatches.
   */
  recent(kernelId: string, agentId: string, limit: number): Promise<readonly Dispatch[]>
  /** Contract: in creation order. */
  dispatchesOf(cycleId: string): Promise<readonly Dispatch[]>
  /** Contract: newest first. */
  cycles(kernelId: string, page: PageLimit): Promise<readonly Cycle[]>
  /** Contract: null if not set. */
  setting(name: string): Promise<Json>
  session(id: string): Promise<Session | undefined>
  /** Contract: whether `prune` would delete a session. The cost does not grow with the number of younger sessions. */
  prunable(before: number): Promise<boolean>
  /** Contract: newest first; with `archived: true` archived sessions, too. */
  sessions(filter: { readonly archived?: boolean } & PageLimit): Promise<readonly Session[]>
  journal(sessionId: string, from?: number): Promise<readonly JournalRecord[]>
  inbox(sessionId: string): Promise<readonly Observation[]>
  /** Contract: oldest first. Reading open outcomes does not get slower with the number of other outcomes. */
  unknowns(filter: {
    readonly session_id?: string | undefined
    readonly status?: UnknownOutcome['status'] | undefined
  }): Promise<readonly UnknownOutcome[]>
  approval(id: string): Promise<Approval | undefined>
  /** Contract: open approvals first, then the others, newest first. */
  approvals(
    filter: { readonly session_id?: string | undefined; readonly status?: ApprovalStatus | undefined } & PageLimit,
  ): Promise<readonly Approval[]>
  /** Contract: grants valid at `now`, oldest first. */
  grants(filter: { readonly tool?: string | undefined; readonly now: number }): Promise<readonly Grant[]>
  /** Contract: undefined means trusted and not private. */
  label(of: string): Promise<Label | undefined>
  /** Contract: labels whose `of` starts with the prefix, sorted. */
  labels(prefix: string): Promise<readonly { readonly of: string; readonly label: Label }[]>
  /** Contract: the entries as stored, from number `from` on, oldest first; `last`: the highest number ever assigned. */
  audit(from: number, page: PageLimit): Promise<{ readonly links: readonly AuditLink[]; readonly last: number }>
  /**
   * Contract: the known facts that have not expired, newest first; with `over: true` also superseded, forgotten,
   * expired and dropped facts.
   */
  facts(
    filter: { readonly agent_id?: string | undefined; readonly over?: boolean; readonly now: number } & PageLimit,
  ): Promise<readonly Fact[]>
  /** Contract: current facts with the most words in common with the query, best first; works for any script. */
  recallFacts(query: FactQuery): Promise<readonly Fact[]>
  /** Contract: the latest version. */
  document(kernelId: string, name: string): Promise<Document | undefined>
  documentVersion(kernelId: string, name: string, version: number): Promise<Document | undefined>
  /** Contract: the retained versions, newest first. */
  documentVersions(
    filter: { readonly kernel_id: string; readonly name: string } & PageLimit,
  ): Promise<readonly DocumentVersion[]>
  /** Contract: the last known content of a document's file. */
  projection(kernelId: string, name: string): Promise<string | undefined>
  selections(): Promise<readonly ModelSelection[]>
  /** Contract: both days included, sorted by day. */
  spend(from: string, to: string): Promise<readonly Spend[]>
  /** Contract: schedules that were added by a command, oldest first. */
  schedules(): Promise<readonly ScheduleEntry[]>
  /** Contract: the progress of each schedule that was opened and not removed, sorted by schedule id. */
  marks(): Promise<readonly ScheduleMark[]>
  workers(now: number): Promise<readonly Worker[]>
  /** Contract: the earliest instant at which a timer is due, if any. */
  nextTimer(): Promise<number | undefined>
  /** Contract: checks for damage on disk, off the main thread; returns the problems found. */
  verify(): Promise<readonly string[]>
  /** Contract: reads every row, off the main thread; returns the unreadable ones. */
  unreadable(): Promise<readonly UnreadableRow[]>
  /** Contract: unreadable rows met since the store was opened, or found by the last `unreadable`. */
  skipped(): readonly UnreadableRow[]
  /** Contract: rows that were set aside, newest first. */
  setAside(page: PageLimit): Promise<readonly SetAsideRow[]>
  /**
   * Contract: writes a consistent copy of everything acknowledged so far to a new file (`conflict` if it exists); reads
   * and commits continue meanwhile. The file is self-contained, readable by its owner only, and on disk when this
   * resolves with its schema version.
   */
  backup(file: string): Promise<{ readonly schema: number }>
  /** Contract: number of fsynced groups of batches since the store was opened. */
  commits(): number
  /** Contract: idempotent; waits for running operations. */
  close(): Promise<void>
}

type ResultOf<O> = O extends { readonly op: infer K extends keyof OpResults } ? OpResults[K] : never
export type ResultsOf<Ops extends readonly Op[]> = { readonly [I in keyof Ops]: ResultOf<Ops[I]> }

/** Commits one batch and returns its results, typed by its ops; throws if the batch is refused. */
export async function commitOne<const Ops extends readonly Op[]>(
  store: Store,
  ops: Ops,
  fence?: Fence,
): Promise<ResultsOf<Ops>> {
  const [outcome] = await store.commit([fence ? { fence, ops } : { ops }])
  if (!outcome) throw new TirelessError('internal', 'the store returned no outcome for a batch')
  if (!outcome.ok) throw new TirelessError(outcome.code, outcome.message)
  return outcome.results as unknown as ResultsOf<Ops>
}

/** Contract: resolves to `otherwise` if the row is unreadable; any other error is thrown again. */
export async function fallbackIfUnreadable<T, U>(reading: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof TirelessError && error.code === 'row_unreadable') return otherwise
    throw error
  }
}
