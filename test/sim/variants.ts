/**
 * Deliberately broken copies of the program, made of replaced ops and wrapped ports. The simulator must catch each one.
 */

import type { DocumentFiles } from '../../src/adapters/documents/files.ts'
import type { OpTable } from '../../src/adapters/stores/sqlite/ops.ts'
import type { Sql } from '../../src/adapters/stores/sqlite/sql.ts'
import { TirelessError } from '../../src/domain/error.ts'
import type { JournalRecord } from '../../src/domain/journal-record.ts'
import type { WakeSignal } from '../../src/kernel/queue/wake-signal.ts'
import type { Behaviour } from '../../src/ports/behaviour.ts'
import type { Snapshots } from '../../src/ports/snapshots.ts'
import type { Batch, Op, Store } from '../../src/ports/store.ts'
import type { AnyTool } from '../../src/ports/tool.ts'
import { APPROVAL_VARIANTS } from './approval-variants.ts'
import { INBOX_VARIANTS } from './inbox-variants.ts'
import { KERNEL_VARIANTS } from './kernel-variants.ts'
import { MONEY_VARIANTS } from './money-variants.ts'
import { RESIDENT_VARIANTS } from './resident-variants.ts'
import { SEVERAL_VARIANTS } from './several-variants.ts'
import { SUB_AGENT_VARIANTS } from './sub-agent-variants.ts'
import { TALK_VARIANTS } from './talk-variants.ts'
import { UNDO_VARIANTS } from './undo-variants.ts'
import type { World } from './world.ts'

export interface Variant {
  readonly name: string
  /** The seed of a world that catches the variant; the test tries it first. Default: 1. */
  readonly seed?: number
  /** No process is told that there is work. */
  readonly withoutWakeSignal?: boolean
  /** No process is told of the commits of others, and none looks for them. */
  readonly withoutChanges?: boolean
  /** The store takes the instants of leases from the clocks of the processes. */
  readonly leaseOnWorkersClock?: boolean
  /** Replaces the kernel's wake signal. `stop`: aborted on SIGTERM. */
  wrapWakeSignal?(wakeSignal: WakeSignal, stop: AbortSignal): WakeSignal
  /** Replaces the batches on their way to the writer. */
  rewriteBatches?(batches: readonly Batch[], world: World): readonly Batch[]
  ops?(ops: OpTable): OpTable
  store?(store: Store): Store
  snapshots?(snapshots: Snapshots): Snapshots
  /** `step`: a point at which the process may crash. */
  files?(files: DocumentFiles, step: (what: string, work: () => void) => Promise<void>): DocumentFiles
  tools?(tools: ReadonlyMap<string, AnyTool>): ReadonlyMap<string, AnyTool>
  /** Replaces a behaviour of the assistant. */
  behaviour?(behaviour: Behaviour): Behaviour
}

export const UNBROKEN: Variant = { name: 'honest' }

export const VARIANTS: readonly Variant[] = [
  {
    name: 'no-fence',
    seed: 49,
    rewriteBatches: (batches, { mirror }) =>
      batches.map((batch) => {
        const token = batch.fence && mirror.dispatches.get(batch.fence.dispatch_id)?.token
        return batch.fence && token !== undefined ? { ...batch, fence: { ...batch.fence, token } } : batch
      }),
  },
  { name: 'no-intent', seed: 3, store: delayRecords(({ kind }) => kind === 'call_intended') },
  { name: 'no-request', store: delayRecords(({ kind }) => kind === 'model_requested') },
  {
    name: 'ack-before-commit',
    store: (store) => ({ ...store, commit: (batches) => store.commit(batches.map(acknowledgeEarly)) }),
  },
  { name: 'no-recovery', ops: (ops) => ({ ...ops, recover: () => ({ lost: 0, recovered: [], dead: [] }) }) },
  { name: 'double-settle', seed: 3, store: readWithout('call_settled') },
  { name: 'answer-bought-again', store: readWithout('model_answered') },
  {
    name: 'token-not-raised',
    ops: (ops) => ({
      ...ops,
      claim: (sql, op, held) =>
        ops.claim(sql, op, held).map((claimed) => {
          const token = Math.max(1, claimed.token - 1)
          sql('UPDATE dispatches SET token = ? WHERE dispatch_id = ?').run(token, claimed.dispatch_id)
          return { ...claimed, token }
        }),
    }),
  },
  { name: 'word-reused', seed: 229, store: reuseResolution },
  { name: 'feedback-forgotten', seed: 60, store: dropFeedback },
  {
    name: 'poison-never-dead',
    seed: 25,
    ops: (ops) => ({
      ...ops,
      recover(sql, op, held) {
        const result = ops.recover(sql, op, held)
        sql("UPDATE dispatches SET status = 'pending' WHERE status = 'dead'").run()
        return { ...result, dead: [] }
      },
    }),
  },
  { name: 'step-in-two-commits', store: splitCommit('append') },
  {
    name: 'run-again-blindly',
    tools: changeTools((tool) => ({ ...tool, effect: () => ({ recovery: 'idempotent', reach: 'none' }) })),
  },
  {
    name: 'probe-not-asked',
    seed: 34,
    tools: changeTools((tool) => ({ ...tool, ...(tool.probe ? { probe: async () => ({ kind: 'not' }) } : {}) })),
  },
  {
    name: 'lowest-priority-first',
    ops: (ops) => ({ ...ops, claim: (sql, op, held) => ops.claim(withLowestPriorityFirst(sql), op, held) }),
  },
  { name: 'deaf-doorbell', seed: 8, withoutWakeSignal: true },
  {
    // Leases are judged by the wall clock alone, and that clock was set forward.
    name: 'wall-clock-lease',
    ops: (ops) => ({
      ...ops,
      claim(sql, op, held) {
        const lapsed = 'SELECT epoch FROM workers WHERE lease_until <= ?'
        sql(
          `UPDATE dispatches SET status = 'pending', epoch = NULL WHERE status = 'running' AND epoch IN (${lapsed})`,
        ).run(op.now)
        return ops.claim(sql, op, held)
      },
    }),
  },
  {
    name: 'not-waited-for',
    store: (store) => ({
      ...store,
      counts() {
        void store.nextTimer()
        return store.counts()
      },
    }),
  },
  {
    // An unusable value is treated like a store that cannot be written to.
    name: 'garbage-ends-the-process',
    seed: 20,
    store: (store) => ({
      ...store,
      commit(batches) {
        const records = batches.flatMap(({ ops }) => ops.flatMap((op) => (op.op === 'append' ? op.records : [])))
        const isGarbageDue = records.find(
          (record) => record.kind === 'failed' && record.message.includes('invalid value'),
        )
        return isGarbageDue
          ? Promise.reject(new TirelessError('store_failed', 'the value is not plain data'))
          : store.commit(batches)
      },
    }),
  },
  ...INBOX_VARIANTS,
  ...APPROVAL_VARIANTS,
  ...MONEY_VARIANTS,
  ...KERNEL_VARIANTS,
  ...TALK_VARIANTS,
  ...SUB_AGENT_VARIANTS,
  ...UNDO_VARIANTS,
  ...RESIDENT_VARIANTS,
  ...SEVERAL_VARIANTS,
  // Bugs that the simulator found, put back.
  {
    name: 'crashes-never-forgotten',
    seed: 38,
    ops: (ops) => ({
      ...ops,
      claim(sql, op, held) {
        const before = sql("SELECT n, crashes FROM dispatches WHERE status = 'pending'").all()
        const claimed = ops.claim(sql, op, held)
        for (const { n, crashes } of before)
          sql('UPDATE dispatches SET crashes = ? WHERE n = ?').run(Number(crashes), Number(n))
        return claimed
      },
    }),
  },
  { name: 'word-told-later', seed: 62, store: splitCommit('resolve') },
  {
    name: 'word-taken-back',
    seed: 8,
    store: (store) => ({
      ...store,
      async unknowns(filter) {
        const known = await store.unknowns(filter)
        return filter.session_id === undefined ? known : known.filter(({ status }) => status === 'open')
      },
    }),
  },
]

/** Confirms such a record at once, but writes it with the next commit. */
function delayRecords(late: (record: JournalRecord) => boolean): (store: Store) => Store {
  return (store) => {
    const held = new Map<string, JournalRecord[]>()
    const withHeld = (op: Op): Op => {
      if (op.op !== 'append') return op
      const records = [...(held.get(op.session_id) ?? []), ...op.records]
      held.delete(op.session_id)
      return { ...op, records }
    }
    return {
      ...store,
      async commit(batches) {
        const [only] = batches[0]?.ops ?? []
        const last = only?.op === 'append' ? only.records.at(-1) : undefined
        if (only?.op !== 'append' || !last || !late(last) || batches[0]?.ops.length !== 1)
          return store.commit(batches.map((batch) => ({ ...batch, ops: batch.ops.map(withHeld) })))
        held.set(only.session_id, [...(held.get(only.session_id) ?? []), ...only.records])
        return [{ ok: true, results: [{ head: last.seq }] }]
      },
    }
  }
}

function acknowledgeEarly(batch: Batch): Batch {
  const ops = batch.ops.flatMap((op): Op[] => {
    if (op.op !== 'append') return []
    const ids = op.records.flatMap((record) => (record.kind === 'input_bound' ? record.input.map(({ id }) => id) : []))
    return ids.length > 0 ? [{ op: 'acknowledge', session_id: op.session_id, observation_ids: ids, now: 0 }] : []
  })
  return { ...batch, ops: [...batch.ops, ...ops] }
}

/** Drops records of this kind when the open step is read. The last record stays, so that the sequence numbers fit. */
function readWithout(kind: JournalRecord['kind']): (store: Store) => Store {
  return (store) => ({
    ...store,
    async journal(sessionId, from) {
      const records = await store.journal(sessionId, from)
      const closed = records.findLastIndex((record) => record.kind === 'step_committed')
      return records.filter((record, i) => record.kind !== kind || i < closed || i === records.length - 1)
    },
  })
}

/** A run that was parked before another attempt is resumed without its feedback. */
function dropFeedback(store: Store): Store {
  const forgotten = (record: JournalRecord): JournalRecord =>
    record.kind === 'step_committed' && record.next.kind === 'park' && record.next.feedback !== undefined
      ? { ...record, next: { kind: 'continue' } }
      : record
  return { ...store, journal: async (...asked) => (await store.journal(...asked)).map(forgotten) }
}

function reuseResolution(store: Store): Store {
  const first = (id: string): string => id.split('.').slice(0, 3).join('.')
  return {
    ...store,
    async unknowns(filter) {
      const known = await store.unknowns(filter)
      const later = [2, 3, 4].flatMap((attempt) =>
        known.map((unknown) => ({ ...unknown, id: `${first(unknown.id)}.${attempt}` })),
      )
      return [...known, ...later.filter(({ id }) => !known.some((unknown) => unknown.id === id))]
    },
  }
}

/** Commits a batch that starts with such an op in two parts: the first op, then the rest. */
function splitCommit(first: Op['op']): (store: Store) => Store {
  return (store) => ({
    ...store,
    async commit(batches) {
      const [batch] = batches
      if (batches.length !== 1 || batch?.ops[0]?.op !== first || batch.ops.length === 1) return store.commit(batches)
      const [begun] = await store.commit([{ ...batch, ops: batch.ops.slice(0, 1) }])
      if (!begun?.ok) return begun ? [begun] : []
      const [ended] = await store.commit([{ ...batch, ops: batch.ops.slice(1) }])
      if (!ended?.ok) return ended ? [ended] : []
      return [{ ok: true, results: [...begun.results, ...ended.results] }]
    },
  })
}

const withLowestPriorityFirst =
  (sql: Sql): Sql =>
  (text) =>
    sql(text.replace('ORDER BY d.priority DESC', 'ORDER BY d.priority ASC'))

type AnyShape = { readonly [K in keyof AnyTool]: AnyTool[K] }

function changeTools(
  change: (tool: AnyTool) => object,
): (tools: ReadonlyMap<string, AnyTool>) => ReadonlyMap<string, AnyTool> {
  const kept = new Set(['wait', 'finish', 'look'])
  return (tools) =>
    new Map([...tools].map(([name, tool]) => [name, kept.has(name) ? tool : (change(tool) as AnyShape)]))
}
