/** Mirrors the database: reads what every commit changed, and checks it against the invariants. */

import type { JournalRecord } from '../../../src/domain/journal-record.ts'
import type { Observation } from '../../../src/domain/observation.ts'
import type { Batch, BatchOutcome, Op } from '../../../src/ports/store.ts'
import { branchesOf } from '../count-branches.ts'
import { needsApproval } from '../ports/gate.ts'
import type { SimProcess } from '../process.ts'
import type { World } from '../world.ts'
import { type ApprovalRow, checkAnswersUnchanged, checkNoOrphanedApproval } from './approvals.ts'
import { checkFence } from './fence.ts'
import { checkAcknowledged, checkInbox, type InboxRow } from './inbox.ts'
import { applyRecord, type WriteContext } from './journal.ts'
import {
  type CrashStreak,
  checkOrder,
  checkRow,
  checkStatusChange,
  checkTally,
  checkWaiting,
  checkWorkspaces,
  type DispatchRow,
  dispatchRow,
  isUnchanged,
  recoveredIds,
} from './queue.ts'
import { dropPruned } from './retention.ts'
import { type CallState, newSession, type SessionState } from './session.ts'

export interface UnknownRow {
  readonly id: string
  readonly status: string
  readonly resolution: string | null
  readonly tool: string
}

const DISPATCHES = `SELECT d.n, dispatch_id, session, workspace, status, token, epoch, attempts, prompt, priority, wait,
  due FROM dispatches d JOIN sessions s ON s.n = d.session ORDER BY d.n`
/** Ops that may end a run. */
const RUN_ENDING_OPS = ['settle', 'recover', 'cancel'] as const
const APPROVAL_OPS = ['ask', 'answer', 'promote', ...RUN_ENDING_OPS] as const
const INBOX_OPS = ['publish', 'answer', 'acknowledge', 'promote', ...RUN_ENDING_OPS] as const
const ROWLESS_OPS: ReadonlySet<Op['op']> = new Set(['append', 'beat', 'unknown', 'ask'])

export class StoreMirror {
  readonly sessions = new Map<number, SessionState>()
  readonly byId = new Map<string, SessionState>()
  dispatches = new Map<string, DispatchRow>()
  readonly crashStreaks = new Map<string, CrashStreak>()
  inbox = new Map<string, InboxRow>()
  unknowns = new Map<string, UnknownRow>()
  approvals = new Map<string, ApprovalRow>()
  /** The newest dispatch at the time a worker joined, by its epoch. */
  readonly joined = new Map<number, number>()
  /** Sessions and dispatches that retention deleted. */
  readonly pruned = new Set<string>()
  /** Unknown outcomes that a model was told of. */
  readonly toldModel = new Set<string>()
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  /** Contract: called with every applied group of commits. */
  onCommit(proc: SimProcess, batches: readonly Batch[], outcomes: readonly BatchOutcome[]): void {
    this.#commit(proc, batches, outcomes)
    this.#journalEntries = Number(this.#all('SELECT max(n) AS n FROM journal')[0]?.n ?? 0)
  }

  /** What was recovered from lost processes with this commit, if there are several; else all that was running is. */
  #crashed: ReadonlySet<string> | undefined
  /** Number of journal entries before this commit. */
  #journalEntries = 0
  #commit(proc: SimProcess, batches: readonly Batch[], outcomes: readonly BatchOutcome[]): void {
    const applied = batches.filter((_, i) => outcomes[i]?.ok)
    for (const batch of applied) checkFence(proc, batch, this.dispatches, this.#fail)
    if (batches.length === 1) this.#checkClaims(batches[0], outcomes[0])
    const ops = new Set(applied.flatMap((batch) => batch.ops.map(({ op }) => op)))
    if (ops.has('prune'))
      dropPruned(this.#world, new Set(this.#all('SELECT n FROM sessions').map(({ n }) => Number(n))))
    if (ops.has('join'))
      this.joined.set(proc.epoch ?? 0, Math.max(0, ...[...this.dispatches.values()].map(({ n }) => n)))
    if (ops.has('unknown') || ops.has('resolve') || ops.has('recover')) this.#readUnknowns(ops)
    if (APPROVAL_OPS.some((op) => ops.has(op))) this.#readApprovals()
    if (ops.has('enqueue') || ops.has('open_session')) this.#readSessions()
    const closed = applied.flatMap((batch) => this.#readJournal(proc, batch))
    this.#crashed = this.#world.plan.several ? recoveredIds(batches, outcomes) : undefined
    for (const [i, batch] of batches.entries())
      for (const branch of branchesOf(this, batch, outcomes[i])) this.#world.counters.add(branch)
    if ([...ops].every((op) => ROWLESS_OPS.has(op))) return
    const before = this.inbox
    if (INBOX_OPS.some((op) => ops.has(op))) {
      this.inbox = this.readInbox()
      checkAcknowledged(before, this.inbox, applied, closed, this.#fail)
    }
    this.#readDispatches(proc, ops, batches.length, before)
    this.#checkSessions()
  }

  readonly #fail = (invariant: string, message: string): void => this.#world.fail(invariant, message)

  #checkClaims(batch: Batch | undefined, outcome: BatchOutcome | undefined): void {
    const [op] = batch?.ops ?? []
    if (op?.op !== 'claim' || op.only !== undefined || !outcome?.ok) return
    const [claimed] = outcome.results as [readonly { readonly dispatch_id: string }[]]
    // A cycle holds back what it is about to run.
    const isHeld = (row: DispatchRow) => row.status === 'pending' && op.except?.includes(row.dispatch_id)
    const rows = [...this.dispatches.values()].filter((row) => !isHeld(row))
    const ids = claimed.map(({ dispatch_id }) => dispatch_id)
    checkOrder(rows, ids, op.last ?? [], this.#fail)
  }

  #readSessions(): void {
    for (const row of this.#all('SELECT n, session_id FROM sessions')) {
      if (this.sessions.has(Number(row.n))) continue
      const made = newSession(Number(row.n), String(row.session_id))
      this.sessions.set(made.n, made)
      this.byId.set(made.session_id, made)
    }
  }

  /** Reads the new records; returns the observations whose step was committed with them. */
  #readJournal(proc: SimProcess, batch: Batch): readonly string[] {
    const closed: string[] = []
    for (const op of batch.ops) {
      if (op.op !== 'append') continue
      const session = this.byId.get(op.session_id)
      if (!session) continue
      const by = this.#writeContext(proc, batch)
      const streak = batch.fence && this.crashStreaks.get(batch.fence.dispatch_id)
      if (streak) Object.assign(streak, { crashesWithoutRecord: 0, wrote: true })
      for (const record of this.#recordsAfter(session, op.records.length)) {
        const { open } = session
        applyRecord(session, record, by)
        this.#world.moves.onRecord(session, record)
        this.#world.talk.onRecord(session, open, record)
        this.#world.subAgents.onRecord(session, record)
        this.#world.looks.onRecord(session, open, record)
        if (open?.answer && open.answeredBy !== proc.id && record.kind === 'call_settled')
          this.#world.counters.add('answer resumed from the journal')
        if (record.kind === 'step_committed' && open && (open.answer || open.decided))
          closed.push(...open.input.map(({ id }) => `${session.n}/${id}`))
      }
    }
    return closed
  }

  #recordsAfter(session: SessionState, limit: number): JournalRecord[] {
    const fresh = this.#all(
      'SELECT n, body FROM journal WHERE n > ? AND session = ? AND seq > ? ORDER BY n',
      this.#journalEntries,
      session.n,
      session.head,
    )
    const records = fresh.flatMap((row) => JSON.parse(String(row.body)) as JournalRecord[])
    return records.slice(0, limit)
  }

  #writeContext(proc: SimProcess, batch: Batch): WriteContext {
    return {
      proc: proc.id,
      batch,
      dispatch_id: batch.fence?.dispatch_id,
      isOver: (run) => ['failed', 'dead', 'cancelled'].includes(this.dispatches.get(run)?.status ?? ''),
      resolutionOf: (id) => this.unknowns.get(id)?.resolution ?? null,
      isListed: (id) => this.unknowns.has(id),
      approvals: this.approvals,
      needsApproval: (...call) =>
        needsApproval(this.#world, ...call) || this.#world.garbage.wasJudged(proc.id, ...call),
      maxSteps: this.#world.plan.maxSteps,
      fail: this.#fail,
    }
  }

  #readDispatches(
    proc: SimProcess,
    ops: ReadonlySet<Op['op']>,
    batches: number,
    inboxBefore: ReadonlyMap<string, InboxRow>,
  ): void {
    const fresh = new Map<string, DispatchRow>()
    for (const row of this.#all(DISPATCHES)) {
      const was = this.dispatches.get(String(row.dispatch_id))
      const is = was && isUnchanged(was, row) ? was : dispatchRow(row)
      fresh.set(is.dispatch_id, is)
      if (is === was) continue
      checkRow(is, this.#fail)
      if (!was) {
        this.crashStreaks.set(is.dispatch_id, { crashesWithoutRecord: 0, wrote: false })
        continue
      }
      const crashed = this.#crashed?.has(is.dispatch_id) ?? ops.has('recover')
      checkStatusChange({ was, is, ops, crashed, batches, epoch: proc.epoch }, this.#crashStreakOf(is), this.#fail)
      if (ops.has('promote')) this.#checkDeadline(was, is, inboxBefore)
    }
    const gone = [...this.dispatches.keys()].filter((id) => !fresh.has(id))
    if (gone.length > 0) this.#fail('queue', `${gone.join(', ')} was deleted`)
    this.dispatches = fresh
    if (ops.has('claim')) checkWorkspaces([...fresh.values()], this.#fail)
  }

  #crashStreakOf({ dispatch_id }: DispatchRow): CrashStreak {
    return this.crashStreaks.get(dispatch_id) ?? { crashesWithoutRecord: 0, wrote: false }
  }

  /** A deadline becomes an observation in the commit that wakes the run. */
  #checkDeadline(was: DispatchRow, is: DispatchRow, before: ReadonlyMap<string, InboxRow>): void {
    if (was.status !== 'waiting' || is.status === 'waiting' || was.wait?.kind !== 'observation') return
    const delivered = [...this.inbox.values()].some((row) => row.session === is.session && !before.has(row.key))
    if (!delivered) this.#fail('no lost wake-up', `${is.dispatch_id} was woken by its deadline without an observation`)
  }

  #checkSessions(): void {
    const inFlight = new Set<number>()
    const latest = new Map<number, DispatchRow>()
    for (const row of this.dispatches.values()) {
      latest.set(row.session, row)
      if (!['pending', 'running', 'waiting'].includes(row.status)) continue
      if (inFlight.has(row.session))
        this.#fail('one dispatch in flight', `session ${row.session} has two dispatches in flight`)
      inFlight.add(row.session)
      if (row.status === 'waiting')
        checkWaiting(row, this.unread(row.session), (id) => this.unknowns.get(id)?.status === 'resolved', this.#fail)
    }
    checkInbox(this.inbox, latest, this.#fail)
    checkNoOrphanedApproval(this.approvals, (id) => inFlight.has(this.byId.get(id)?.n ?? 0), this.#fail)
    checkTally(this.dispatches.values(), this.#all('SELECT status, n FROM tally'), this.#fail)
  }

  /** A resolution is final, except that `recheck` may find nothing and ask again. */
  #readUnknowns(ops: ReadonlySet<Op['op']>): void {
    const fresh = new Map<string, UnknownRow>()
    for (const row of this.#all('SELECT id, status, resolution, tool FROM unknowns')) {
      const is = row as unknown as UnknownRow
      const was = this.unknowns.get(is.id)
      fresh.set(is.id, is)
      if (is.status === 'told_model') this.toldModel.add(is.id)
      if (was?.status === 'resolved' && is.resolution !== was.resolution && was.resolution !== 'recheck')
        this.#fail(
          'late or double human answers',
          `the resolution of ${is.id} was ${was.resolution} and is ${is.resolution}`,
        )
      if (was?.status === 'open' && is.status !== 'open' && !ops.has('resolve'))
        this.#fail('late or double human answers', `${is.id} went from open to ${is.status} without a resolution`)
    }
    this.unknowns = fresh
  }

  #readApprovals(): void {
    const columns = 'id, status, tool, args, expires_at, answer_reason'
    const rows = this.#all(`SELECT ${columns} FROM approvals`) as unknown as ApprovalRow[]
    const fresh = new Map(rows.map((row) => [row.id, row]))
    checkAnswersUnchanged(this.approvals, fresh, this.#fail)
    for (const { id, status } of fresh.values())
      if (status === 'expired' && this.approvals.get(id)?.status === 'open')
        this.#world.counters.add('approval expired')
    this.approvals = fresh
  }

  unread(session: number): Observation[] {
    return [...this.inbox.values()].filter((row) => row.session === session && !row.read).map((row) => row.observation)
  }

  readInbox(): Map<string, InboxRow> {
    return new Map(
      this.#all('SELECT session, id, body, read_at FROM inbox ORDER BY n').map((row) => {
        const key = `${row.session}/${row.id}`
        const known = this.inbox.get(key)
        const read = row.read_at !== null
        if (known && known.read === read) return [key, known]
        const observation = JSON.parse(String(row.body)) as Observation
        return [key, { key, session: Number(row.session), observation, read }]
      }),
    )
  }

  /** Calls that were intended and never settled. */
  unsettledCalls(): CallState[] {
    const open = [...this.sessions.values()].flatMap((session) => [...(session.open?.calls.values() ?? [])])
    return open.filter((call) => !call.settled)
  }

  dispatchOf(session: SessionState): DispatchRow | undefined {
    for (const row of this.dispatches.values())
      if (row.session === session.n && ['pending', 'running', 'waiting'].includes(row.status)) return row
    return undefined
  }

  readonly #statements = new Map<string, ReturnType<World['db']['prepare']>>()
  #all(text: string, ...values: (string | number)[]): Record<string, unknown>[] {
    const statement = this.#statements.get(text) ?? this.#world.db.prepare(text)
    this.#statements.set(text, statement)
    return statement.all(...values)
  }
}
