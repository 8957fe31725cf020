/**
 * Store: all durable data, in parts (`store/`). A write is a list of batches of operations: `commit(batches)` returns
 * an outcome per batch, so that a batch with a stale fence fails alone while the other batches share one fsync.
 */

import { TirelessError } from '../domain/error.ts'
import type { SetAsideRow, UnreadableRow } from '../domain/unreadable-row.ts'
import type { OutboxOp, OutboxReads, OutboxResults } from './outbox.ts'
import type { CycleOp, CycleReads, CycleResults } from './store/cycles.ts'
import type { DocumentOp, DocumentReads, DocumentResults } from './store/documents.ts'
import type { NeedOp, NeedReads, NeedResults } from './store/needs.ts'
import type { PageLimit } from './store/page-limit.ts'
import type { PermissionOp, PermissionReads, PermissionResults } from './store/permissions.ts'
import type { QueueOp, QueueReads, QueueResults } from './store/queue.ts'
import type { SessionOp, SessionReads, SessionResults } from './store/sessions.ts'
import type { SpendingOp, SpendingReads, SpendingResults } from './store/spending.ts'
import type { TodoOp, TodoReads, TodoResults } from './store/todos.ts'
import type { UndoOp, UndoReads, UndoResults } from './store/undos.ts'

export interface Fence {
  readonly dispatch_id: string
  readonly token: number
}

/** The name under which a worker leads, and its token. */
export interface LeaderFence {
  readonly name: string
  readonly token: number
}

/**
 * An op that depends on the time carries it; a store has no clock. Leases are the exception: a store that several
 * machines share may measure them (`join`, `beat`, `recover`, `lead`, `workers`) by its own clock, and takes only their
 * length from the op, because clocks of machines differ.
 */
export type Op =
  | QueueOp
  | SessionOp
  | CycleOp
  | PermissionOp
  | SpendingOp
  | DocumentOp
  | OutboxOp
  | TodoOp
  | UndoOp
  | NeedOp
  /**
   * Moves unreadable rows to `set_aside` unchanged. A session whose row or journal is unreadable moves as a whole. Rows
   * that others depend on are replaced by a safe value: the lowest label, the document's text as its latest version,
   * an expired approval for a run that waits for it. Audit entries stay.
   */
  | { readonly op: 'set_aside'; readonly rows: readonly UnreadableRow[]; readonly now: number }

export interface OpResults
  extends QueueResults,
    SessionResults,
    CycleResults,
    PermissionResults,
    SpendingResults,
    DocumentResults,
    OutboxResults,
    TodoResults,
    UndoResults,
    NeedResults {
  set_aside: { readonly moved: number }
}

export interface Batch {
  readonly fence?: Fence
  /** Only the leader may write this batch. */
  readonly leader?: LeaderFence
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

/**
 * Contract of all reads: they see every commit acknowledged before the call. Lists leave out unreadable rows; a read of
 * a single unreadable row rejects with `row_unreadable`; see `skipped`.
 */
export interface Store
  extends QueueReads,
    SessionReads,
    CycleReads,
    PermissionReads,
    SpendingReads,
    DocumentReads,
    OutboxReads,
    TodoReads,
    UndoReads,
    NeedReads {
  /**
   * Contract: each batch is atomic and independent; outcomes in order. A batch with a fence is refused unless that
   * dispatch is running under that token; one with a leader, unless that token is the latest. Resolves after fsync.
   * If a write or fsync fails, this call and every later call reject with `store_failed`: nothing is acknowledged
   * after a failed sync. If the database is another process and away, the call waits for a bounded time before it
   * rejects; what it did is then not known, and later calls are tried again.
   */
  commit(batches: readonly Batch[]): Promise<readonly BatchOutcome[]>
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
  /**
   * Contract: calls the listener when another process has committed what may be work, sooner or later, also without
   * reason. Returns how to stop. Absent if no other process writes to the store.
   */
  onChange?(listener: () => void): () => void
  /** Contract: as `onChange`, when another process has appended to a journal. */
  onAppend?(listener: () => void): () => void
  /**
   * Contract: rejects with `store_failed` within seconds if the database does not answer now. Absent if the store is a
   * file of this process.
   */
  ping?(): Promise<void>
  /** Contract: from now on, calls fail at once if the database is away; also those that wait. Absent as `ping` is. */
  stopWaiting?(): void
  /** Contract: number of fsynced groups of batches since the store was opened. */
  commits(): number
  /** Contract: idempotent; waits for running operations. */
  close(): Promise<void>
}

type ResultOf<O> = O extends { readonly op: infer K extends keyof OpResults } ? OpResults[K] : never
export type ResultsOf<Ops extends readonly Op[]> = { readonly [I in keyof Ops]: ResultOf<Ops[I]> }

/** Contract: whether other processes, in homes of their own, work on the same store. */
export const isSharedStore = (store: Pick<Store, 'onChange'>): boolean => store.onChange !== undefined

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
