/** Broken conversations: todos passed unseen, labels lost in summaries, messages and replies lost or doubled. */

import type { JournalRecord } from '../../src/domain/journal-record.ts'
import type { TodoAction } from '../../src/domain/todo-delta.ts'
import type { Batch, Op, Store } from '../../src/ports/store.ts'
import type { Variant } from './variants.ts'
import type { World } from './world.ts'

export const TALK_VARIANTS: readonly Variant[] = [
  {
    // The store takes the worker's word for it: what the checks found is dropped, and no evidence will do.
    name: 'todo-passed-without-evidence',
    seed: 103,
    ops: (ops) => ({
      ...ops,
      todos: (sql, op, held) => ops.todos(sql, { ...op, actions: op.actions.flatMap(trustWorker) }, held),
    }),
  },
  {
    // What a behaviour is shown of its session has no fences: text from outside looks like the owner's.
    name: 'label-dropped-in-summary',
    seed: 159,
    behaviour: (behaviour) => ({
      ...behaviour,
      prepare: (...given) => behaviour.prepare?.(...given).replaceAll(/<\/?data \w+[^>]*>/g, '') ?? '',
    }),
  },
  {
    // A session that changed its behaviour takes itself for as trusted as the owner.
    name: 'label-dropped-at-become',
    seed: 7,
    rewriteBatches: (batches, { mirror }) =>
      batches.map((batch) => ({
        ...batch,
        ops: batch.ops.map((op) => {
          if (op.op !== 'append' || (mirror.byId.get(op.session_id)?.moves ?? 0) === 0) return op
          return { ...op, records: op.records.map(withoutLabel) }
        }),
      })),
  },
  {
    // Messages that come while the behaviour changes are taken for read.
    name: 'message-lost-at-become',
    seed: 71,
    rewriteBatches: (batches, world) => batches.map((batch) => acknowledgeAtBecome(batch, world)),
  },
  {
    // The reply leaves before the commit that ends the run, each time under another id.
    name: 'reply-sent-twice',
    seed: 87,
    store: postFirst,
  },
]

function trustWorker(action: TodoAction): readonly TodoAction[] {
  if (action.kind === 'evidence' || (action.kind === 'change' && action.by.kind === 'system')) return []
  if (action.kind !== 'change' || action.verb !== 'pass') return [action]
  return [{ kind: 'evidence', by: { kind: 'system' }, code: action.code, results: [] }, action]
}

function withoutLabel(record: JournalRecord): JournalRecord {
  if (record.kind !== 'call_settled') return record
  const { label: _, ...settled } = record
  return settled
}

function acknowledgeAtBecome(batch: Batch, { mirror }: World): Batch {
  const ops = batch.ops.flatMap((op): Op[] => {
    if (op.op !== 'append' || !op.records.some(changesBehaviour)) return []
    const { session_id } = op
    const unread = mirror
      .unread(mirror.byId.get(session_id)?.n ?? 0)
      .flatMap(({ type, id }) => (type === 'user_message' ? [id] : []))
    return unread.length > 0 ? [{ op: 'acknowledge', session_id, observation_ids: unread, now: 0 }] : []
  })
  return { ...batch, ops: [...batch.ops, ...ops] }
}

const changesBehaviour = (record: JournalRecord): boolean =>
  record.kind === 'became' || (record.kind === 'step_committed' && record.next.kind === 'become')

/** Posts in a commit of its own. A crash before the commit that ends the run makes the next process post again. */
function postFirst(store: Store): Store {
  let posted = 0
  return {
    ...store,
    async commit(batches) {
      const [batch] = batches
      if (batches.length !== 1 || !batch?.fence || !batch.ops.some(({ op }) => op === 'post'))
        return store.commit(batches)
      posted += 1
      const rename = (op: Op): readonly Op[] =>
        op.op === 'post' ? [{ ...op, message: { ...op.message, id: `${op.message.id}-${posted}-${op.now}` } }] : []
      await store.commit([{ ops: batch.ops.flatMap(rename) }])
      const [outcome] = await store.commit([{ ...batch, ops: batch.ops.filter(({ op }) => op !== 'post') }])
      if (!outcome?.ok) return outcome ? [outcome] : []
      const left = [...outcome.results]
      return [{ ok: true, results: batch.ops.map(({ op }) => (op === 'post' ? null : left.shift())) as never }]
    },
  }
}
