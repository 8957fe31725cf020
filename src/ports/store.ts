/**
 * Store: the one durable place. Writes are data: `commit(batches)` with an outcome per batch, so that one fenced session fails
 * alone while the others share its fsync.
 */

import type { Approval, ApprovalStatus } from '../domain/approval.ts'
import type { Cancel, Dispatch, DispatchStatus, NewDispatch } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import type { Fact, NewFact } from '../domain/fact.ts'
import type { Observation } from '../domain/observation.ts'
import type { JournalRecord } from '../domain/record.ts'
import type { Selection } from '../domain/selection.ts'
import type { Session } from '../domain/session.ts'
import type { FailureClass } from '../domain/stop.ts'
import type { Resolution, Unknown } from '../domain/unknown.ts'
import type { Wait } from '../domain/wait.ts'

export interface Fence {
  readonly dispatch_id: string
  readonly token: number
}

/** Every op carries the instant it happens at; a store has no clock of its own. */
export type Op =
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
  | { readonly op: 'enqueue'; readonly dispatches: readonly NewDispatch[]; readonly now: number }
  /** Highest priority first, then oldest; never two of one session at a time; each gets a new token. `only` narrows it to one. */
  | {
      readonly op: 'claim'
      readonly epoch: number
      readonly limit: number
      readonly now: number
      readonly only?: string
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
   * its run can end; what runs is told by whoever runs it. With its end, what its session still waits to have allowed is denied.
   */
  | { readonly op: 'cancel'; readonly dispatch_id: string; readonly how: Cancel; readonly now: number }
  /** Of a dispatch and its descendants: what is not running is not claimed until `paused` is false again. */
  | { readonly op: 'pause'; readonly dispatch_id: string; readonly paused: boolean; readonly now: number }
  /** Into the inbox, once per id; wakes a dispatch that waits for it; an idle session gets a dispatch of its own. */
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
  /**
   * Once per id. One that the agent knows under the same key is superseded; where it knows too many, the oldest are dropped. What is over is
   * kept within bounds.
   */
  | { readonly op: 'remember'; readonly fact: NewFact; readonly now: number }
  /** What an agent knew, and had known, under a key: everything written up to the instant `before`. Its text is gone for good. */
  | { readonly op: 'forget'; readonly agent_id: string; readonly key: string; readonly before: number }

export interface Results {
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
  publish: { readonly duplicate: boolean; readonly dispatch_id: string | null }
  unknown: null
  select: null
  resolve: { readonly unknown: Unknown }
  ask: null
  answer: { readonly approval: Approval; readonly dispatch_id: string | null }
  remember: { readonly superseded: boolean; readonly dropped: readonly string[] }
  /** Whether there was something known under it. */
  forget: { readonly forgotten: boolean }
}

export interface Batch {
  readonly fence?: Fence
  readonly ops: readonly Op[]
}

export type Refusal = 'store_fenced' | 'store_sequence' | 'not_found' | 'conflict'

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

export interface Store {
  /**
   * Contract: each batch is atomic and independent; outcomes in order. A batch with a fence is refused unless that dispatch is
   * running under that token. Resolves after everything is on disk (fsynced); rejects with `store_failed` when it cannot be, and then for
   * every later call: nothing is acknowledged after a failed sync.
   */
  commit(batches: readonly Batch[]): Promise<readonly Outcome[]>

  // Reads. Contract: each sees every commit acknowledged before it was called.
  dispatch(id: string): Promise<Dispatch | undefined>
  dispatches(
    filter: { readonly status?: DispatchStatus | undefined; readonly agent_id?: string | undefined } & Page,
  ): Promise<readonly Dispatch[]>
  counts(): Promise<Counts>
  session(id: string): Promise<Session | undefined>
  sessions(page: Page): Promise<readonly Session[]>
  journal(sessionId: string, from?: number): Promise<readonly JournalRecord[]>
  inbox(sessionId: string): Promise<readonly Observation[]>
  unknowns(filter: { readonly session_id?: string | undefined }): Promise<readonly Unknown[]>
  approval(id: string): Promise<Approval | undefined>
  /** Contract: the open ones first, then the newest. */
  approvals(
    filter: { readonly session_id?: string | undefined; readonly status?: ApprovalStatus | undefined } & Page,
  ): Promise<readonly Approval[]>
  /** Contract: what is known and has not expired, newest first; with `over`, what is over as well. */
  facts(
    filter: { readonly agent_id?: string | undefined; readonly over?: boolean; readonly now: number } & Page,
  ): Promise<readonly Fact[]>
  /** Contract: of what is known and has not expired, what has most words in common with the question, best first; in any script. */
  recallFacts(query: FactQuery): Promise<readonly Fact[]>
  selections(): Promise<readonly Selection[]>
  workers(now: number): Promise<readonly Worker[]>
  /** Contract: the earliest instant at which a timer is due, if there is one. */
  nextTimer(): Promise<number | undefined>
  /** Contract: looks for damage on disk, off the main thread, beside whatever else goes on; what it found, empty when all is sound. */
  verify(): Promise<readonly string[]>
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
