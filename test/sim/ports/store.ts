/** The real store code on the world's one database. Every call is a boundary at which the process may crash. */

import { encodeBatch } from '../../../src/adapters/stores/encode-batch.ts'
import { TirelessError } from '../../../src/domain/error.ts'
import type { Batch, BatchOutcome, Op, Store } from '../../../src/ports/store.ts'
import { checkSpend } from '../invariants/money.ts'
import type { Boundary } from '../plan.ts'
import type { SimProcess } from '../process.ts'
import type { World } from '../world.ts'

interface QueuedCommit {
  readonly batches: readonly Batch[]
  outcomes?: readonly BatchOutcome[]
}

export function simStore(world: World, proc: SimProcess): Store {
  const commits = new SimCommits(world, proc)
  return {
    ...simReads(world, proc),
    commit: (batches) => commits.commit(batches),
    verify: async () => [],
    unreadable: async () => [],
    skipped: () => [],
    backup: async () => ({ schema: 0 }),
    commits: () => 0,
    close: async () => {},
  }
}

/** The commits of one process, until its disk fails. */
class SimCommits {
  readonly #world: World
  readonly #proc: SimProcess
  readonly #queue: QueuedCommit[] = []
  #broken: TirelessError | undefined

  constructor(world: World, proc: SimProcess) {
    this.#world = world
    this.#proc = proc
  }

  async commit(batches: readonly Batch[]): Promise<readonly BatchOutcome[]> {
    const [world, proc] = [this.#world, this.#proc]
    if (this.#broken) throw this.#broken
    checkNoClaimAfterStop(world, proc, batches)
    world.looks.onCommitAsked(proc, batches)
    const queued: QueuedCommit = { batches }
    this.#queue.push(queued)
    const label = batches.map((batch) => batch.ops.map(({ op }) => op).join('+')).join(' ')
    const applying = world.io(proc, 'commit', label, () => {
      if (this.#broken) throw this.#broken
      return this.#applyUpTo(queued)
    })
    // The store was away for too long: what was not sent by then is never sent.
    applying.catch(() => this.#forget(queued))
    const outcomes = await applying
    const ops = new Set(batches.flatMap((batch) => batch.ops.map(({ op }) => op)))
    return world.io(
      proc,
      boundaryAfter(world, ops),
      outcomes.map((one) => (one.ok ? 'ok' : one.code)).join(' '),
      () => outcomes,
    )
  }

  #forget(queued: QueuedCommit): void {
    const at = this.#queue.indexOf(queued)
    if (at >= 0) this.#queue.splice(at, 1)
  }

  /** Applies the queue in order up to this commit in one transaction, as the store's group commit does. */
  #applyUpTo(queued: QueuedCommit): readonly BatchOutcome[] {
    if (queued.outcomes) return queued.outcomes
    const [world, proc] = [this.#world, this.#proc]
    const group = this.#queue.splice(0, this.#queue.indexOf(queued) + 1)
    const fault = world.faults.nextFor('disk')
    if (fault) {
      world.counters.add('disk failed')
      this.#broken = new TirelessError('store_failed', 'the disk is gone')
      proc.diskFailedAt = world.events
    }
    if (!fault || fault.written) for (const part of transactionsOf(group)) applyGroup(world, proc, part)
    if (this.#broken) throw this.#broken
    return queued.outcomes ?? []
  }
}

function boundaryAfter({ plan }: World, ops: ReadonlySet<Op['op']>): Boundary {
  if (plan.several && ops.has('cycle_begin')) return 'begun'
  if (ops.has('unknown')) return 'listed'
  if (ops.has('resolve')) return 'resolved'
  return ops.has('post') ? 'posted' : 'ack'
}

type UnreadOperations = 'commit' | 'verify' | 'unreadable' | 'skipped' | 'backup' | 'commits' | 'close'

type Read = <T>(what: string, query: () => Promise<T>) => Promise<T>

/** Parts of lists. */
const simWindows = (reader: World['reader'], read: Read) =>
  ({
    sessionWindow: (filter) => read('sessions', () => reader.sessionWindow(filter)),
    workspaces: () => read('sessions', () => reader.workspaces()),
    sessionsIn: (workspaces, page) => read('sessions', () => reader.sessionsIn(workspaces, page)),
    todoWindow: (filter) => read('todos', () => reader.todoWindow(filter)),
    dispatchWindow: (filter) => read('dispatchWindow', () => reader.dispatchWindow(filter)),
    dispatchesIn: (session, page) => read('dispatches', () => reader.dispatchesIn(session, page)),
  }) satisfies Partial<Store>

/** Every read is a boundary of its own. */
function simReads(world: World, proc: SimProcess): Omit<Store, UnreadOperations> {
  const { reader } = world
  const read = <T>(what: string, query: () => Promise<T>): Promise<T> =>
    world.several.isReadAtOnce(proc) ? query() : world.io(proc, 'read', what, query).then((it) => it)
  return {
    ...simWindows(reader, read),
    dispatch: (id) => read('dispatch', () => reader.dispatch(id)),
    dispatches: (filter) => read('dispatches', () => reader.dispatches(filter)),
    counts: () => read('counts', () => reader.counts()),
    recent: (kernel, agent, limit) => read('recent', () => reader.recent(kernel, agent, limit)),
    dispatchesOf: (cycle) => read('dispatchesOf', () => reader.dispatchesOf(cycle)),
    childrenOf: (id) => read('childrenOf', () => reader.childrenOf(id)),
    cycles: (kernel, page) => read('cycles', () => reader.cycles(kernel, page)),
    setting: (name) => read('setting', () => reader.setting(name)),
    countCycles: (kernel, since) => read('countCycles', () => reader.countCycles(kernel, since)),
    spendSums: (range) => read('spendSums', () => reader.spendSums(range)),
    spend: (from, to) => read('spend', () => reader.spend(from, to)),
    session: (id) => read('session', () => reader.session(id)),
    sessions: (page) => read('sessions', () => reader.sessions(page)),
    journal: (id, from) => read('journal', () => reader.journal(id, from)),
    journalEnd: () => read('journal', () => reader.journalEnd()),
    journalAfter: (place, limit) => read('journal', () => reader.journalAfter(place, limit)),
    inbox: (id) => read('inbox', () => reader.inbox(id)),
    unknowns: (filter) => read('unknowns', () => reader.unknowns(filter)),
    approval: (id) => read('approval', () => reader.approval(id)),
    approvals: (filter) => read('approvals', () => reader.approvals(filter)),
    grants: (filter) => read('grants', () => reader.grants(filter)),
    label: (of) => read('label', () => reader.label(of)),
    labels: (prefix) => read('label', () => reader.labels(prefix)),
    audit: (from, page) => read('audit', () => reader.audit(from, page)),
    prunable: (before) => read('prunable', () => reader.prunable(before)),
    selections: () => read('selections', () => reader.selections()),
    schedules: () => read('schedules', () => reader.schedules()),
    marks: () => read('marks', () => reader.marks()),
    facts: (filter) => read('facts', () => reader.facts(filter)),
    countFacts: (filter) => read('facts', () => reader.countFacts(filter)),
    recallFacts: (query) => read('facts', () => reader.recallFacts(query)),
    document: (kernel, name) => read('document', () => reader.document(kernel, name)),
    documentVersion: (kernel, name, version) => read('document', () => reader.documentVersion(kernel, name, version)),
    documentVersions: (filter) => read('documents', () => reader.documentVersions(filter)),
    projection: (kernel, name) => read('projection', () => reader.projection(kernel, name)),
    todos: (session) => read('todos', () => reader.todos(session)),
    allTodos: (filter) => read('todos', () => reader.allTodos(filter)),
    todo: (session, code) => read('todos', () => reader.todo(session, code)),
    todoReceipt: (id) => read('todos', () => reader.todoReceipt(id)),
    todoReceipts: (filter) => read('todos', () => reader.todoReceipts(filter)),
    undo: (id) => read('undo', () => reader.undo(id)),
    undos: (page) => read('undo', () => reader.undos(page)),
    unfinishedUndos: () => read('undo', () => reader.unfinishedUndos()),
    need: (id) => read('needs', () => reader.need(id)),
    openNeed: (sameAs) => read('needs', () => reader.openNeed(sameAs)),
    needs: (filter) => read('needs', () => reader.needs(filter)),
    outbox: (filter) => read('outbox', () => reader.outbox(filter)),
    dueMessages: (now) => read('outbox', () => reader.dueMessages(now)),
    nextMessageDue: (after) => read('outbox', () => reader.nextMessageDue(after)),
    deliveries: () => read('outbox', () => reader.deliveries()),
    leader: (name) => read('leader', () => reader.leader(name)),
    workers: (now) => read('workers', () => reader.workers(now)),
    homes: (ids, now) => read('homes', () => reader.homes(ids, now)),
    nextTimer: () => read('timer', () => reader.nextTimer()),
    nextExpiry: () => reader.nextExpiry(),
    setAside: (page) => read('setAside', () => reader.setAside(page)),
  }
}

/** One transaction; but one per commit where a batch prunes, because a session may end and be deleted in one group. */
function transactionsOf(group: readonly QueuedCommit[]): readonly (readonly QueuedCommit[])[] {
  const prunes = group.some(({ batches }) => batches.some(({ ops }) => ops.some(({ op }) => op === 'prune')))
  return prunes ? group.map((one) => [one]) : [group]
}

function applyGroup(world: World, proc: SimProcess, group: readonly QueuedCommit[]): void {
  const batches = group.flatMap((queued) => queued.batches)
  const joins = batches.some((batch) => batch.ops.some(({ op }) => op === 'join'))
  for (const batch of batches) letRivalFire(world, batch)
  let outcomes: readonly BatchOutcome[]
  try {
    const timed = world.plan.several ? batches.map((batch) => withLeaseTimes(world, batch)) : batches
    outcomes = world.writer.apply((world.variant.rewriteBatches?.(timed, world) ?? timed).map(encodeBatch)).outcomes
  } catch (thrown) {
    world.fail(
      'store',
      `the store failed without a fault: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
    )
    throw thrown
  }
  if (joins && world.plan.several) world.several.leases.onJoin(proc, batches, outcomes)
  else if (joins) markTakeover(world, proc, outcomes)
  if (joins && hasReservation(world)) world.counters.add('reservation left behind by a crash')
  if (proc.superseded && outcomes.some(({ ok }) => ok)) world.staleWriteSeen = true
  world.mirror.onCommit(proc, batches, outcomes)
  world.todos.onCommit(batches, outcomes)
  world.talk.onCommit(batches, outcomes)
  world.subAgents.onCommit()
  world.looks.onCommit(proc, batches, outcomes)
  checkSpend(world)
  world.cycles.onCommit(proc, batches, outcomes)
  world.stateDocument.onCommit(batches, outcomes)
  world.beatTiming.onCommit(batches, outcomes)
  world.garbage.onCommit(proc, batches, outcomes)
  world.several.onCommit(proc, batches, outcomes)
  let from = 0
  for (const queued of group) {
    queued.outcomes = outcomes.slice(from, from + queued.batches.length)
    from += queued.batches.length
  }
}

/** Leases are measured by the store's clock: only their length comes from the process, as with PostgreSQL. */
function withLeaseTimes({ wall: now, variant }: World, batch: Batch): Batch {
  if (variant.leaseOnWorkersClock) return batch
  const timed = (op: Op): Op => {
    if (op.op === 'join' || op.op === 'beat') return { ...op, now, lease_until: now + op.lease_until - op.now }
    return op.op === 'recover' || op.op === 'lead' ? { ...op, now } : op
  }
  return { ...batch, ops: batch.ops.map(timed) }
}

/** From now on every other process is superseded. */
function markTakeover(world: World, proc: SimProcess, outcomes: readonly BatchOutcome[]): void {
  for (const outcome of outcomes) {
    const joined = outcome.ok ? (outcome.results[0] as { epoch?: number } | null) : null
    if (joined?.epoch !== undefined) proc.epoch = joined.epoch
  }
  proc.superseded = false
  for (const other of world.processes) {
    if (other === proc || other.superseded) continue
    other.superseded = true
    if (other.state === 'up' || other.state === 'paused') world.counters.add('takeover by another process')
  }
}

/** After SIGTERM a process must claim no work. */
function checkNoClaimAfterStop(world: World, proc: SimProcess, batches: readonly Batch[]): void {
  if (proc.term.signal.aborted && batches.some((batch) => batch.ops.some(({ op }) => op === 'claim')))
    world.fail('SIGTERM', `process ${proc.id} claims work after SIGTERM`)
}

const hasReservation = ({ db }: World): boolean => db.prepare('SELECT 1 FROM reservations LIMIT 1').get() !== undefined

/** Lets another leader fire a beat first, where the plan says so. Nothing else of that leader is simulated. */
function letRivalFire(world: World, { ops }: Batch): void {
  const fired = ops.find((op) => op.op === 'schedule_fired')
  if (!fired || !ops.some(({ op }) => op === 'cycle_begin') || !world.faults.nextFor('rival')) return
  world.writer.apply([encodeBatch({ ops: [fired] })])
  world.cycles.rivalFired(fired)
}
