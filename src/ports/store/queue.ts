/** Queue: dispatches, the workers that claim them, and their timers. */

import type { CancelMode, Dispatch, DispatchStatus, NewDispatch } from '../../domain/dispatch.ts'
import type { ProcessRole } from '../../domain/process-role.ts'
import type { FailureClass } from '../../domain/stop-reason.ts'
import type { ChildReport } from '../../domain/sub-agent.ts'
import type { Wait } from '../../domain/wait.ts'
import type { PageLimit } from './page-limit.ts'

export type QueueOp =
  /**
   * Starts a worker's epoch. `alone`: the caller holds the home's lock, so every other worker is dead. Of a shared
   * store, the earlier workers of the same home on the same machine are. Sessions that no home has, and whose workspace
   * is below the path of the worker's home, are pinned to that home.
   */
  | {
      readonly op: 'join'
      readonly name: string
      readonly now: number
      readonly lease_until: number
      readonly alone: boolean
      /** Who it is, for people. A store of one home need not keep it. */
      readonly about?: WorkerAbout
    }
  | { readonly op: 'beat'; readonly epoch: number; readonly now: number; readonly lease_until: number }
  /** Ends the epoch; its running dispatches become pending. */
  | { readonly op: 'leave'; readonly epoch: number; readonly now: number }
  /**
   * Running dispatches of workers with an expired lease become pending, or dead after too many crashes. A dead dispatch
   * has ended as by `settle`: its open approvals are denied, its result goes to its parent, its sub-agents are
   * cancelled.
   */
  | { readonly op: 'recover'; readonly now: number }
  /**
   * Asks that this worker leads under a name, such as that of a kernel, whose schedules only one process may follow. It
   * leads if no other worker with a valid lease does. Each change of the leader raises the token, which fences its
   * writes (`Batch.leader`). `resign`: instead, the worker gives the lead up, if it has it; the next one that asks gets
   * it. Refused with `store_fenced` if the epoch has ended.
   */
  | {
      readonly op: 'lead'
      readonly name: string
      readonly epoch: number
      readonly now: number
      readonly resign?: true
    }
  /**
   * Work that waits for longer than `grace` ms for a home that has had no worker for so long. A session in a folder of
   * that home becomes one whose home is not chosen yet, with a quiet observation that says where its files are; a
   * sub-agent, whose parent is there, is cancelled; one in a folder outside of the home waits on.
   */
  | { readonly op: 'take_over'; readonly grace: number; readonly now: number }
  /**
   * Adds dispatches, all or none. If `source` and `key` are known, the result is the id of the existing dispatch. A
   * child of a paused dispatch is paused. A new session whose folder of a home another session of the kernel is pinned
   * in is pinned there, too, whatever its `pin` says.
   */
  | { readonly op: 'enqueue'; readonly dispatches: readonly NewDispatch[]; readonly now: number }
  /**
   * Takes up to `limit` pending dispatches for a worker: highest priority first, then oldest; at most one per session.
   * A dispatch is left pending while one of another session runs in the same workspace. Each gets a new token. A
   * session that is pinned to a home is claimed only by workers of that home (`WorkerAbout`); one whose home is not
   * chosen yet is pinned to the worker's, and its workspace is then below that home. `only`: ids of dispatches to
   * consider, with their descendants; `except`: ids of those to leave out; `last`: ids of those that come after all
   * others of their priority, in this order.
   */
  | {
      readonly op: 'claim'
      readonly epoch: number
      readonly limit: number
      readonly now: number
      readonly only?: readonly string[]
      readonly except?: readonly string[]
      readonly last?: readonly string[]
    }
  /**
   * Handles due timers: their dispatches become pending, with an observation if a wait reached its deadline. Approvals
   * that were not answered in time (by `borne_out`; default: `now`) expire. An observation about that wakes the waiting
   * dispatch; a session without active work gets the observation with its next input.
   */
  | { readonly op: 'promote'; readonly now: number; readonly borne_out?: number }
  /**
   * Needs the fence. Ends the run. If the status is `done` and there is unread input, a new dispatch of the session is
   * created in this commit. Open approvals of the session are denied with a reason, which the session gets with its
   * next input. The result of a sub-agent goes to its parent's session, once; it starts no run, and if the parent run
   * has ended it wakes none. The sub-agents of the run are cancelled.
   */
  | {
      readonly op: 'settle'
      readonly status: 'done' | 'failed' | 'cancelled'
      readonly result: string | null
      readonly error: string | null
      readonly failure_class: FailureClass | null
      /** Id of the dispatch created for unread input. */
      readonly successor_id: string
      /** What a sub-agent reports with its result. */
      readonly report?: ChildReport | undefined
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
   * approvals of its session are denied, and the result of a sub-agent is delivered, when the dispatch ends. `reason`:
   * stored for a dispatch that never ran.
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
  /** Changes the place of a dispatch among those that wait for their turn. A `conflict` if it has ended. */
  | { readonly op: 'prioritize'; readonly dispatch_id: string; readonly priority: number; readonly now: number }

export type DispatchCounts = Readonly<Record<DispatchStatus, number>>

/** What a process on a shared store does, and where: the name of its machine, and the id and path of its home. */
export interface WorkerAbout {
  readonly role: ProcessRole
  readonly host: string
  readonly home: string
  readonly root?: string
  /** How many dispatches it runs at once at most; 0: none. */
  readonly slots?: number
  /** Of the program. */
  readonly version?: string
  /** The length of its lease in milliseconds. */
  readonly lease_ms?: number
}

/** The setting with the name of a home's machine, written by a process that pins a session to its home. */
export const homeSetting = (home: string): string => `home ${home}`

/** A home that works on a shared store, as its workers show it. */
export interface HomeSeen {
  readonly home: string
  /** The name of its machine. */
  readonly host: string
  /** Null: no worker of it was seen. */
  readonly last_seen: string | null
  /** Whether a process of it runs dispatches now. */
  readonly is_alive: boolean
}

interface Worker {
  readonly epoch: number
  readonly name: string
  readonly joined_at: string
  readonly lease_until: string
  /** How many milliseconds the lease lasts, by the clock that measures leases. */
  readonly lease_left_ms: number
  readonly about: WorkerAbout | null
}

export interface Leader {
  readonly epoch: number
  readonly token: number
}

export interface QueueResults {
  join: { readonly epoch: number }
  beat: { readonly alive: boolean }
  leave: { readonly released: number }
  /** `lost`: workers that ended without leaving. */
  recover: { readonly lost: number; readonly recovered: readonly string[]; readonly dead: readonly string[] }
  /** `epoch`, `token`: of the worker that leads now; epoch 0: none. */
  lead: { readonly leading: boolean; readonly epoch: number; readonly token: number }
  take_over: readonly {
    readonly dispatch_id: string
    readonly session_id: string
    /** Where its files are, on the machine of the home. */
    readonly workspace: string
    readonly home: HomeSeen
    readonly became: 'moved' | 'cancelled' | 'waits'
  }[]
  enqueue: readonly { readonly dispatch_id: string; readonly session_id: string; readonly duplicate: boolean }[]
  claim: readonly Dispatch[]
  promote: { readonly promoted: number }
  settle: { readonly successor: string | null }
  park: { readonly parked: boolean }
  release: null
  /** The affected dispatches with their former status; finished ones are left out. */
  cancel: readonly { readonly dispatch_id: string; readonly status: DispatchStatus }[]
  pause: readonly { readonly dispatch_id: string; readonly status: DispatchStatus }[]
  retry: null
  prioritize: null
}

/** What dispatches have to match; what is absent matches all. */
export interface DispatchFilter {
  readonly status?: DispatchStatus | undefined
  /** True: those that have not ended. */
  readonly in_flight?: boolean | undefined
  readonly agent_id?: string | undefined
  /** Created at `from` or later, and before `to`. */
  readonly created?: { readonly from: number | null; readonly to: number | null } | undefined
  /** Each is part of the id, the prompt, the result or the error; the case of Latin letters does not count. */
  readonly words?: readonly string[] | undefined
}

export interface QueueReads {
  dispatch(id: string): Promise<Dispatch | undefined>
  /** Contract: newest first. `active`: only those created before `to` and last changed at `from` or later. */
  dispatches(
    filter: {
      readonly status?: DispatchStatus | undefined
      readonly agent_id?: string | undefined
      readonly active?: { readonly from: number; readonly to: number } | undefined
    } & PageLimit,
  ): Promise<readonly Dispatch[]>
  /**
   * Contract: newest first, from the given place on, with the number of all that match. Without `words`, the cost does
   * not grow with the length of texts; with them, other work goes on meanwhile.
   */
  dispatchWindow(
    filter: DispatchFilter & { readonly offset: number } & PageLimit,
  ): Promise<{ readonly items: readonly Dispatch[]; readonly total: number }>
  /**
   * Contract: those of a session, newest first, from the given place on, with their number. The cost does not grow with
   * the number of other sessions.
   */
  dispatchesIn(
    sessionId: string,
    page: { readonly offset: number } & PageLimit,
  ): Promise<{ readonly items: readonly Dispatch[]; readonly total: number }>
  counts(): Promise<DispatchCounts>
  /**
   * Contract: the agent's latest dispatches, newest first. The cost does not grow with the number of its dispatches.
   */
  recent(kernelId: string, agentId: string, limit: number): Promise<readonly Dispatch[]>
  /** Contract: in creation order. */
  dispatchesOf(cycleId: string): Promise<readonly Dispatch[]>
  /** Contract: the dispatches that this one started, in creation order. */
  childrenOf(dispatchId: string): Promise<readonly Dispatch[]>
  workers(now: number): Promise<readonly Worker[]>
  /** Contract: each of these homes of a shared store, in order; none on a store of one home. */
  homes(ids: readonly string[], now: number): Promise<readonly HomeSeen[]>
  /** Contract: the earliest instant at which a waiting dispatch is due, if any. */
  nextTimer(): Promise<number | undefined>
  /** Contract: the earliest instant at which an open approval expires, if any. */
  nextExpiry(): Promise<number | undefined>
}
