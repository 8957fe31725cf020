/** The real store code on the world's one database, with every call a boundary at which the process may die. */

import { encodeBatch } from '../../../src/adapters/stores/sqlite/encode-batch.ts'
import { TirelessError } from '../../../src/domain/error.ts'
import type { Batch, BatchOutcome, Store } from '../../../src/ports/store.ts'
import { checkBooks } from '../invariants/money.ts'
import type { Life } from '../process.ts'
import type { World } from '../world.ts'

interface Waiting {
  readonly batches: readonly Batch[]
  outcomes?: readonly BatchOutcome[]
}

export function simStore(world: World, life: Life): Store {
  const { reader } = world
  const queue: Waiting[] = []
  let broken: TirelessError | undefined

  /** First come, first served, whatever gathered before it in one transaction: as the store's group commit does. */
  function applied(waiting: Waiting): readonly BatchOutcome[] {
    if (waiting.outcomes) return waiting.outcomes
    const group = queue.splice(0, queue.indexOf(waiting) + 1)
    const fault = world.faults.of('disk')
    if (fault) {
      world.counters.add('disk failed')
      broken = new TirelessError('store_failed', 'the disk is gone')
      life.sickSince = world.events
    }
    if (!fault || fault.written) for (const part of partsOf(group)) apply(world, life, part)
    if (broken) throw broken
    return waiting.outcomes ?? []
  }

  const read = <T>(what: string, look: () => Promise<T>): Promise<T> =>
    world.io(life, 'read', what, look).then((it) => it)

  return {
    async commit(batches) {
      if (broken) throw broken
      checkSubmitted(world, life, batches)
      const waiting: Waiting = { batches }
      queue.push(waiting)
      const label = batches.map((batch) => batch.ops.map(({ op }) => op).join('+')).join(' ')
      const outcomes = await world.io(life, 'commit', label, () => {
        if (broken) throw broken
        return applied(waiting)
      })
      const ops = new Set(batches.flatMap((batch) => batch.ops.map(({ op }) => op)))
      return world.io(
        life,
        ops.has('unknown') ? 'listed' : ops.has('resolve') ? 'word' : 'ack',
        outcomes.map((one) => (one.ok ? 'ok' : one.code)).join(' '),
        () => outcomes,
      )
    },
    dispatch: (id) => read('dispatch', () => reader.dispatch(id)),
    dispatches: (filter) => read('dispatches', () => reader.dispatches(filter)),
    counts: () => read('counts', () => reader.counts()),
    recent: (kernel, agent, limit) => read('recent', () => reader.recent(kernel, agent, limit)),
    dispatchesOf: (cycle) => read('dispatchesOf', () => reader.dispatchesOf(cycle)),
    cycles: (kernel, page) => read('cycles', () => reader.cycles(kernel, page)),
    setting: (name) => read('setting', () => reader.setting(name)),
    spend: (from, to) => read('spend', () => reader.spend(from, to)),
    session: (id) => read('session', () => reader.session(id)),
    sessions: (page) => read('sessions', () => reader.sessions(page)),
    journal: (id, from) => read('journal', () => reader.journal(id, from)),
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
    recallFacts: (query) => read('facts', () => reader.recallFacts(query)),
    document: (kernel, name) => read('document', () => reader.document(kernel, name)),
    documentVersion: (kernel, name, version) => read('document', () => reader.documentVersion(kernel, name, version)),
    documentVersions: (filter) => read('documents', () => reader.documentVersions(filter)),
    projection: (kernel, name) => read('projection', () => reader.projection(kernel, name)),
    outbox: (filter) => read('outbox', () => reader.outbox(filter)),
    dueMessages: (now) => read('outbox', () => reader.dueMessages(now)),
    nextMessageDue: (after) => read('outbox', () => reader.nextMessageDue(after)),
    deliveries: () => read('outbox', () => reader.deliveries()),
    workers: (now) => read('workers', () => reader.workers(now)),
    nextTimer: () => read('timer', () => reader.nextTimer()),
    setAside: (page) => read('setAside', () => reader.setAside(page)),
    verify: async () => [],
    unreadable: async () => [],
    skipped: () => [],
    backup: async () => ({ schema: 0 }),
    commits: () => 0,
    close: async () => {},
  }
}

/** One transaction, but where a session may have ended and be taken away in it: that is looked at one by one. */
function partsOf(group: readonly Waiting[]): readonly (readonly Waiting[])[] {
  const prunes = group.some(({ batches }) => batches.some(({ ops }) => ops.some(({ op }) => op === 'prune')))
  return prunes ? group.map((one) => [one]) : [group]
}

function apply(world: World, life: Life, group: readonly Waiting[]): void {
  const batches = group.flatMap((waiting) => waiting.batches)
  const joins = batches.some((batch) => batch.ops.some(({ op }) => op === 'join'))
  for (const batch of batches) outrun(world, batch)
  let outcomes: readonly BatchOutcome[]
  try {
    outcomes = world.writer.apply((world.variant.rewritten?.(batches, world) ?? batches).map(encodeBatch)).outcomes
  } catch (thrown) {
    world.fail('store', `it failed by itself: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    throw thrown
  }
  if (joins) takeOver(world, life, outcomes)
  if (joins && isSetAside(world)) world.counters.add('money that a crash left set aside')
  if (life.superseded && outcomes.some(({ ok }) => ok)) world.strangers = true
  world.watch.committed(life, batches, outcomes)
  checkBooks(world)
  world.cycles.committed(life, batches, outcomes)
  world.state.committed(batches, outcomes)
  world.rhythm.committed(batches, outcomes)
  world.garbage.committed(life, batches, outcomes)
  let from = 0
  for (const waiting of group) {
    waiting.outcomes = outcomes.slice(from, from + waiting.batches.length)
    from += waiting.batches.length
  }
}

/** From here on every other process has lost its claim to the home. */
function takeOver(world: World, life: Life, outcomes: readonly BatchOutcome[]): void {
  for (const outcome of outcomes) {
    const joined = outcome.ok ? (outcome.results[0] as { epoch?: number } | null) : null
    if (joined?.epoch !== undefined) life.epoch = joined.epoch
  }
  life.superseded = false
  for (const other of world.lives) {
    if (other === life || other.superseded) continue
    other.superseded = true
    if (other.state === 'up' || other.state === 'paused') world.counters.add('takeover')
  }
}

/** SIGTERM: no new claims. */
function checkSubmitted(world: World, life: Life, batches: readonly Batch[]): void {
  if (life.term.signal.aborted && batches.some((batch) => batch.ops.some(({ op }) => op === 'claim')))
    world.fail('SIGTERM', `life ${life.id} claims work after it was told to stop`)
}

const isSetAside = ({ db }: World): boolean => db.prepare('SELECT 1 FROM reservations LIMIT 1').get() !== undefined

/** A beat belongs to whoever fires it first: here and there that is another leader, of whom nothing else is seen. */
function outrun(world: World, { ops }: Batch): void {
  const fired = ops.find((op) => op.op === 'schedule_fired')
  if (!fired || !ops.some(({ op }) => op === 'cycle_begin') || !world.faults.of('rival')) return
  world.writer.apply([encodeBatch({ ops: [fired] })])
  world.cycles.outrun(fired)
}
