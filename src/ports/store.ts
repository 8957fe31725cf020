/**
 * Store: the one durable place. Writes are data: `commit(batches)` with an outcome per batch, so that one fenced session fails
 * alone while the others share its fsync.
 */

import type { Approval, ApprovalStatus } from '../domain/approval.ts'
import type { AuditEntry, Link } from '../domain/audit.ts'
import type { Cycle, CycleResult } from '../domain/cycle.ts'
import type { Cancel, Dispatch, DispatchStatus, NewDispatch } from '../domain/dispatch.ts'
import type { Document, DocumentVersion } from '../domain/document.ts'
import { TirelessError } from '../domain/error.ts'
import type { Fact, NewFact } from '../domain/fact.ts'
import type { Grant } from '../domain/grant.ts'
import type { Json } from '../domain/json.ts'
import type { Cap, Spend } from '../domain/money.ts'
import type { Observation } from '../domain/observation.ts'
import type { JournalRecord, Usage } from '../domain/record.ts'
import type { Mark, NewScheduleEntry, ScheduleEntry } from '../domain/schedule.ts'
import type { Selection } from '../domain/selection.ts'
import type { Session } from '../domain/session.ts'
import type { FailureClass } from '../domain/stop.ts'
import type { Label } from '../domain/trust.ts'
import type { Resolution, Unknown } from '../domain/unknown.ts'
import type { SetAsideRow, UnreadableRow } from '../domain/unreadable.ts'
import type { Wait } from '../domain/wait.ts'
import type { OutboxOp, OutboxReads, OutboxResults } from './outbox.ts'

export interface Fence {
  readonly dispatch_id: string
  readonly token: number
}

/** Every op carries the instant it happens at; a store has no clock of its own. */
export type Op =
  | OutboxOp
  /** A worker's epoch begins. `alone`: the caller holds the home's lock, so every other worker is dead. */
  | {
      readonly op: 'join'
      readonly name: string
      readonly now: number
      readonly lease_until: number
      readonly alone: boolean
    }
  | { readonly op: 'beat'; readonly epoch: number; readonly lease_until: number }
  /** The epoch ends; what it still ran becomes pending at once. */
  | { readonly op: 'leave'; readonly epoch: number; readonly now: number }
  /** Running work of workers whose lease has ended becomes pending, or dead when it is poison. */
  | { readonly op: 'recover'; readonly now: number }
  /** All or none; a known (source, key) answers with the first one's id. */
  /** What is made for paused work is paused with it. */
  | { readonly op: 'enqueue'; readonly dispatches: readonly NewDispatch[]; readonly now: number }
  /** Highest priority first, then oldest; never two of one session at a time; each gets a new token. `only` some, or all `except` some. */
  | {
      readonly op: 'claim'
      readonly epoch: number
      readonly limit: number
      readonly now: number
      readonly only?: readonly string[]
      readonly except?: readonly string[]
    }
  /**
   * Timers that are due: their dispatches become pending, with an observation of the deadline where one was waited for. Approvals that nobody
   * answered in time are expired, with an observation that wakes who waits; a session with nothing in flight hears of it with whatever comes next.
   */
  | { readonly op: 'promote'; readonly now: number }
  /** Refused unless `seq` follows the session's last record. */
  | { readonly op: 'append'; readonly session_id: string; readonly records: readonly JournalRecord[] }
  | {
      readonly op: 'acknowledge'
      readonly session_id: string
      readonly observation_ids: readonly string[]
      readonly now: number
    }
  /** Needs the fence. Ends the run. Where unread input is left after `done`, a new dispatch of the session is made in the same commit. */
  | {
      readonly op: 'settle'
      readonly status: 'done' | 'failed' | 'cancelled'
      readonly result: string | null
      readonly error: string | null
      readonly failure_class: FailureClass | null
      /** Id for the dispatch that unread input would make. */
      readonly successor_id: string
      readonly now: number
    }
  /**
   * Needs the fence. Re-checks the inbox inside the transaction: where something unread already matches, it does not park. One that is asked
   * to end is pending again at once.
   */
  | { readonly op: 'park'; readonly wait: Wait; readonly now: number }
  /** Needs the fence. Gives the work back, pending, for anybody. */
  | { readonly op: 'release'; readonly now: number }
  /**
   * Of a dispatch and its descendants. What was never claimed, or is over, is settled at once or left as it is; what waits is woken, so that
   * its run can end; what runs is told by whoever runs it. With its end, what its session still waits to have allowed is denied. `reason`: why,
   * of what was never claimed.
   */
  | {
      readonly op: 'cancel'
      readonly dispatch_id: string
      readonly how: Cancel
      readonly now: number
      readonly reason?: string
    }
  /** Of a dispatch and its descendants: what is not running is not claimed until `paused` is false again. */
  | { readonly op: 'pause'; readonly dispatch_id: string; readonly paused: boolean; readonly now: number }
  /** One that failed or is dead is pending again, as if it were new; a `conflict` otherwise, and while its session has something in flight. */
  | { readonly op: 'retry'; readonly dispatch_id: string; readonly now: number }
  /** Put away, or taken out again; a `conflict` while it has something in flight. */
  | { readonly op: 'archive'; readonly session_id: string; readonly archived: boolean; readonly now: number }
  /** Into the inbox, once per id; one that was put away is taken out again; wakes a dispatch that waits for it; an idle session gets a dispatch of its own. */
  | {
      readonly op: 'publish'
      readonly session_id: string
      readonly observation: Observation
      readonly successor_id: string
      readonly now: number
    }
  /** Listed, or listed again as it now stands. */
  | { readonly op: 'unknown'; readonly unknown: Unknown }
  /** The model of a scope, from now on; null: no longer one of its own. */
  | { readonly op: 'select'; readonly scope: string; readonly model: string | null; readonly now: number }
  /**
   * Sets money aside before a call, unless a cap would be passed: then nothing is written, and the answer says which. `usd` in millionths. What
   * the same dispatch had set aside before, and never settled, counts as spent.
   */
  | ({ readonly op: 'reserve'; readonly id: string; readonly usd: number; readonly caps: readonly Cap[] } & Spender)
  /** What the call did cost. Without a reservation of that id it is booked all the same. */
  | ({ readonly op: 'spent'; readonly id: string; readonly usd: number; readonly usage: Usage } & Spender)
  /** The call cost nothing; harmless where there is no such reservation. */
  | { readonly op: 'unspent'; readonly id: string }
  /**
   * On record before anything is done in it. Of its kernel, one that was never ended is ended with an error: its process is gone, and its
   * dispatches are left to this one, as is whatever was open at the end of the one before.
   */
  | {
      readonly op: 'cycle_begin'
      readonly cycle_id: string
      readonly kernel_id: string
      readonly trigger: string
      readonly due: number | null
      readonly now: number
    }
  /** `open`: dispatches that are still under way. Once. */
  | {
      readonly op: 'cycle_end'
      readonly result: CycleResult
      readonly open: readonly string[]
      readonly now: number
    }
  /** A word that outlives a process, such as that the kernel is paused; null: gone. */
  | { readonly op: 'set'; readonly name: string; readonly value: Json }
  /** A human's word; wakes the dispatch that waits for it. */
  | { readonly op: 'resolve'; readonly unknown_id: string; readonly as: Resolution; readonly now: number }
  /** Listed, open, once per id. */
  | { readonly op: 'ask'; readonly approval: Approval }
  /** A human's word on an open approval, once; published to its session in the same commit. One whose time is over is a `conflict` too. */
  | {
      readonly op: 'answer'
      readonly approval_id: string
      readonly answer: 'allowed' | 'denied'
      readonly reason: string | null
      readonly successor_id: string
      readonly now: number
    }
  /** A standing word of the owner; once per id. */
  | { readonly op: 'grant'; readonly grant: Grant }
  | { readonly op: 'revoke'; readonly id: string }
  /** What something is worth, from now on: never more than before, unless it is null, the owner's word that it is as good as theirs. */
  | { readonly op: 'label'; readonly of: string; readonly label: Label | null }
  /** Behind all others, bound to them. */
  | { readonly op: 'audit'; readonly entry: AuditEntry }
  /**
   * Once per id. One that the agent knows under the same key is superseded; where it knows too many, the oldest are dropped. What is over is
   * kept within bounds.
   */
  | { readonly op: 'remember'; readonly fact: NewFact; readonly now: number }
  /** What an agent knew, and had known, under a key: everything written up to the instant `before`. Its text is gone for good. */
  | { readonly op: 'forget'; readonly agent_id: string; readonly key: string; readonly before: number }
  /** Added, and opened. One that there is already is a `conflict`. */
  | { readonly op: 'schedule_put'; readonly entry: NewScheduleEntry; readonly now: number }
  | { readonly op: 'schedule_remove'; readonly id: string }
  /** When it goes on, what was due while it was paused is over. */
  | { readonly op: 'schedule_pause'; readonly id: string; readonly paused: boolean; readonly now: number }
  /** Somebody waits for it, an added or a configured one: the first time ever, nothing up to `now` is due. */
  | { readonly op: 'schedule_open'; readonly id: string; readonly now: number }
  /** A beat fires: commit it with what it sets off. Nothing up to its instant fires any more. */
  | { readonly op: 'schedule_fired'; readonly id: string; readonly instant: number }
  /**
   * The next version of a document; a `conflict` unless `base` is the digest of the latest one, null where there is none. The same text again makes
   * no version. Those that are too many are dropped, the oldest first, never the latest.
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
   * Takes away, oldest first and at most so many, the sessions in which nothing has happened since `before` and nothing is open, with all that
   * belongs to them; and some of what is older of cycles and of messages that were sent. What agents remember, what was spent and what was ruled stays.
   */
  | { readonly op: 'prune'; readonly before: number; readonly limit: number }
  /**
   * Moves rows that cannot be read out of their tables, as they are, so that they can be looked at and disturb nobody. A session whose row or
   * journal is one of them goes as a whole. What cannot do without such a row gets what is safe in its place: a label counts for the least, the
   * text of a document stays its latest version, a run that waits for an approval hears that it has expired. Records of the audit stay.
   */
  | { readonly op: 'set_aside'; readonly rows: readonly UnreadableRow[]; readonly now: number }
  /** A document's file is known to be like this. */
  | { readonly op: 'project'; readonly kernel_id: string; readonly name: string; readonly text: string }

/** Who spends, and on what. `day`: as `2030-01-31`, where the owner is. */
export interface Spender {
  readonly kernel_id: string
  readonly agent_id: string
  readonly dispatch_id: string
  readonly model: string
  readonly day: string
}

export interface Results extends OutboxResults {
  join: { readonly epoch: number }
  beat: { readonly alive: boolean }
  leave: { readonly released: number }
  /** `lost`: how many workers ended without leaving. */
  recover: { readonly lost: number; readonly recovered: readonly string[]; readonly dead: readonly string[] }
  enqueue: readonly { readonly dispatch_id: string; readonly session_id: string; readonly duplicate: boolean }[]
  claim: readonly Dispatch[]
  promote: { readonly promoted: number }
  append: { readonly head: number }
  acknowledge: { readonly acknowledged: number }
  settle: { readonly successor: string | null }
  park: { readonly parked: boolean }
  release: null
  /** Each with what it was before; those that are over are not among them. */
  cancel: readonly { readonly dispatch_id: string; readonly status: DispatchStatus }[]
  pause: readonly { readonly dispatch_id: string; readonly status: DispatchStatus }[]
  retry: null
  archive: null
  publish: { readonly duplicate: boolean; readonly dispatch_id: string | null }
  unknown: null
  select: null
  /** `left`: dispatches that no cycle before this one has seen the end of. */
  cycle_begin: { readonly interrupted: readonly string[]; readonly left: readonly string[] }
  cycle_end: null
  set: null
  /** `used`: under that cap, with what is `reserved` by calls without an answer. */
  reserve: { readonly refused: { readonly cap: Cap; readonly used: number; readonly reserved: number } | null }
  spent: null
  unspent: null
  resolve: { readonly unknown: Unknown }
  ask: null
  answer: { readonly approval: Approval; readonly dispatch_id: string | null }
  grant: null
  revoke: { readonly revoked: boolean }
  label: null
  audit: null
  remember: { readonly superseded: boolean; readonly dropped: readonly string[] }
  /** Whether there was something known under it. */
  forget: { readonly forgotten: boolean }
  schedule_put: null
  schedule_remove: { readonly removed: boolean }
  schedule_pause: null
  /** Up to when nothing fires any more. */
  schedule_open: { readonly until: number }
  /** Whether it was the first: false for an instant that has fired or is over. */
  schedule_fired: { readonly first: boolean }
  /** As it now stands, without its text. */
  document: DocumentVersion & { readonly changed: boolean }
  project: null
  /** How many rows were moved. */
  set_aside: { readonly moved: number }
  /** Whose they were. */
  prune: { readonly runs: readonly string[] }
}

export interface Batch {
  readonly fence?: Fence
  readonly ops: readonly Op[]
}

/** `store_invalid`: it holds a value that could be written and not be read again. `row_unreadable`: it is about a row that cannot be read. */
export type Refusal = 'store_fenced' | 'store_sequence' | 'store_invalid' | 'row_unreadable' | 'not_found' | 'conflict'

export type Outcome =
  | { readonly ok: true; readonly results: readonly unknown[] }
  | { readonly ok: false; readonly code: Refusal; readonly message: string }

export type Counts = Readonly<Record<DispatchStatus, number>>

export interface Worker {
  readonly epoch: number
  readonly name: string
  readonly lease_until: string
}

export interface Page {
  readonly limit: number
}

/** Without an agent: of all of them. */
export interface FactQuery extends Page {
  readonly agent_id?: string | undefined
  readonly text: string
  readonly now: number
}

export interface Store extends OutboxReads {
  /**
   * Contract: each batch is atomic and independent; outcomes in order. A batch with a fence is refused unless that dispatch is
   * running under that token. Resolves after everything is on disk (fsynced); rejects with `store_failed` when it cannot be, and then for
   * every later call: nothing is acknowledged after a failed sync.
   */
  commit(batches: readonly Batch[]): Promise<readonly Outcome[]>

  // Reads. Contract: each sees every commit acknowledged before it was called. A list leaves out rows that cannot be read, a read of one such
  // row rejects with `row_unreadable`; see `skipped`.
  dispatch(id: string): Promise<Dispatch | undefined>
  dispatches(
    filter: { readonly status?: DispatchStatus | undefined; readonly agent_id?: string | undefined } & Page,
  ): Promise<readonly Dispatch[]>
  counts(): Promise<Counts>
  /** Contract: the agent's last ones, newest first. Costs the same however many there are. */
  recent(kernelId: string, agentId: string, limit: number): Promise<readonly Dispatch[]>
  /** Contract: in the order of their making. */
  dispatchesOf(cycleId: string): Promise<readonly Dispatch[]>
  /** Contract: newest first. */
  cycles(kernelId: string, page: Page): Promise<readonly Cycle[]>
  /** Contract: null where nothing was set. */
  setting(name: string): Promise<Json>
  session(id: string): Promise<Session | undefined>
  /** Contract: whether there is a session to be taken away by `prune`. Costs the same however many are younger. */
  prunable(before: number): Promise<boolean>
  /** Contract: newest first; with `archived`, those that were put away as well. */
  sessions(filter: { readonly archived?: boolean } & Page): Promise<readonly Session[]>
  journal(sessionId: string, from?: number): Promise<readonly JournalRecord[]>
  inbox(sessionId: string): Promise<readonly Observation[]>
  /** Contract: oldest first. Those that are open cost the same however many are not. */
  unknowns(filter: {
    readonly session_id?: string | undefined
    readonly status?: Unknown['status'] | undefined
  }): Promise<readonly Unknown[]>
  approval(id: string): Promise<Approval | undefined>
  /** Contract: the open ones first, then the newest. */
  approvals(
    filter: { readonly session_id?: string | undefined; readonly status?: ApprovalStatus | undefined } & Page,
  ): Promise<readonly Approval[]>
  /** Contract: those that hold at that instant, oldest first. */
  grants(filter: { readonly tool?: string | undefined; readonly now: number }): Promise<readonly Grant[]>
  /** Contract: undefined where it is as good as the owner's word. */
  label(of: string): Promise<Label | undefined>
  /** Contract: of those whose names begin like that, by name. */
  labels(prefix: string): Promise<readonly { readonly of: string; readonly label: Label }[]>
  /** Contract: as they lie there, oldest first, from a number on; `last`: the number that was given out last. */
  audit(from: number, page: Page): Promise<{ readonly links: readonly Link[]; readonly last: number }>
  /** Contract: what is known and has not expired, newest first; with `over`, what is over as well. */
  facts(
    filter: { readonly agent_id?: string | undefined; readonly over?: boolean; readonly now: number } & Page,
  ): Promise<readonly Fact[]>
  /** Contract: of what is known and has not expired, what has most words in common with the question, best first; in any script. */
  recallFacts(query: FactQuery): Promise<readonly Fact[]>
  /** Contract: the latest version. */
  document(kernelId: string, name: string): Promise<Document | undefined>
  documentVersion(kernelId: string, name: string, version: number): Promise<Document | undefined>
  /** Contract: those that are kept, newest first. */
  documentVersions(
    filter: { readonly kernel_id: string; readonly name: string } & Page,
  ): Promise<readonly DocumentVersion[]>
  /** Contract: what a document's file was last known to be. */
  projection(kernelId: string, name: string): Promise<string | undefined>
  selections(): Promise<readonly Selection[]>
  /** Contract: from one day to another, both included, by day. */
  spend(from: string, to: string): Promise<readonly Spend[]>
  /** Contract: those that were added, oldest first. */
  schedules(): Promise<readonly ScheduleEntry[]>
  /** Contract: of every schedule that was ever opened and not removed, by id. */
  marks(): Promise<readonly Mark[]>
  workers(now: number): Promise<readonly Worker[]>
  /** Contract: the earliest instant at which a timer is due, if there is one. */
  nextTimer(): Promise<number | undefined>
  /** Contract: looks for damage on disk, off the main thread, beside whatever else goes on; what it found, empty when all is sound. */
  verify(): Promise<readonly string[]>
  /** Contract: looks at every row, off the main thread, beside whatever else goes on; those that cannot be read. */
  unreadable(): Promise<readonly UnreadableRow[]>
  /** Contract: rows that cannot be read and were met since the store was opened, or found by the last `unreadable`. */
  skipped(): readonly UnreadableRow[]
  /** Contract: what was set aside, newest first. */
  setAside(page: Page): Promise<readonly SetAsideRow[]>
  /**
   * Contract: everything acknowledged so far, as of one instant, into a new file (`conflict` where there is one), while others go on
   * reading and committing. The file needs nothing beside it, is its owner's only, and is on disk when this resolves; answers with its schema.
   */
  backup(file: string): Promise<{ readonly schema: number }>
  /** Contract: how many times it has synced a group of batches to disk since it was opened. */
  commits(): number
  /** Contract: idempotent; waits for what is under way. */
  close(): Promise<void>
}

type ResultOf<O> = O extends { readonly op: infer K extends keyof Results } ? Results[K] : never
export type ResultsOf<Ops extends readonly Op[]> = { readonly [I in keyof Ops]: ResultOf<Ops[I]> }

/** One batch, its results typed by its ops; a refusal is thrown. */
export async function commitOne<const Ops extends readonly Op[]>(
  store: Store,
  ops: Ops,
  fence?: Fence,
): Promise<ResultsOf<Ops>> {
  const [outcome] = await store.commit([fence ? { fence, ops } : { ops }])
  if (!outcome) throw new TirelessError('internal', 'the store answered no outcome for a batch')
  if (!outcome.ok) throw new TirelessError(outcome.code, outcome.message)
  return outcome.results as unknown as ResultsOf<Ops>
}

/** Contract: `otherwise` in place of a row that cannot be read; whatever else goes wrong is thrown. */
export async function unlessUnreadable<T, U>(reading: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await reading
  } catch (thrown) {
    if (thrown instanceof TirelessError && thrown.code === 'row_unreadable') return otherwise
    throw thrown
  }
}
