/** Store conformance: values that could not be read back are refused. */

import assert from 'node:assert/strict'
import type { Batch, Op, Store } from '../ports/store.ts'
import {
  type ConformanceCase,
  claimInStore,
  enqueueInStore,
  joinTestWorker,
  newTestDispatch,
  newTestRecord,
  TEST_NOW,
  WAIT_FOR_MESSAGE,
} from './store-test-helpers.ts'

const UNSAFE = 2 ** 53
const AFTER_9999 = Date.UTC(10_000, 0, 1)

const spender = { kernel_id: 'k', agent_id: 'a', dispatch_id: 'd', model: 'p/m', day: '2030-01-31' }
const usage = { input_tokens: 1, output_tokens: 1, cached_tokens: 0 }
const enqueueOp = (more: object): Op => ({ op: 'enqueue', dispatches: [newTestDispatch('bad', more)], now: TEST_NOW })
const fact = {
  ...{ id: 'f', key: 'k', text: 't', agent_id: 'a', session_id: 's', turn: 1, private: false },
  trust: 'trusted' as const,
  created_at: '2030-01-31T00:00:00.000Z',
  expires_at: null,
}

/** Ops with one invalid value each. */
const INVALID_OPS: Readonly<Record<string, Op>> = {
  'an instant after the year 9999': enqueueOp({ at: AFTER_9999 }),
  'a fractional instant': enqueueOp({ at: TEST_NOW + 0.5 }),
  'an infinite instant': enqueueOp({ at: Number.POSITIVE_INFINITY }),
  'a fractional priority': enqueueOp({ priority: 0.1 }),
  'a priority beyond the safe integers': enqueueOp({ priority: UNSAFE }),
  'a missing text': enqueueOp({ prompt: undefined }),
  'metadata that is not JSON': enqueueOp({ metadata: { n: 1n } }),
  'metadata with a function': enqueueOp({ metadata: { f: () => {} } }),
  'a NaN clock': { op: 'cycle_begin', cycle_id: 'c', kernel_id: 'k', trigger: 't', due: null, now: NaN },
  'an invalid date': { op: 'remember', fact: { ...fact, expires_at: 'never' }, now: TEST_NOW },
  'negative usage': { op: 'spent', id: 'x', usd: 1, usage: { ...usage, input_tokens: -5 }, ...spender },
  'fractional usage': { op: 'spent', id: 'x', usd: 1, usage: { ...usage, output_tokens: 1.5 }, ...spender },
  'huge usage': { op: 'spent', id: 'x', usd: 1, usage: { ...usage, cached_tokens: 1e308 }, ...spender },
  'a NaN amount': { op: 'reserve', id: 'x', usd: Number.NaN, caps: [], ...spender },
}

/** Asserts that only this batch is refused, not the ones before and after it in the same commit. */
async function assertRefusedAlone(store: Store, bad: Batch): Promise<void> {
  const settingBatch = (value: string): Batch => ({ ops: [{ op: 'set', name: value, value }] })
  const [before, refused, after] = await store.commit([settingBatch('before'), bad, settingBatch('after')])
  assert.deepEqual(
    { beforeOk: before?.ok, refusedOk: refused?.ok, afterOk: after?.ok },
    { beforeOk: true, refusedOk: false, afterOk: true },
  )
  assert.ok(refused && !refused.ok)
  assert.equal(refused.code, 'store_invalid')
  assert.deepEqual(
    { before: await store.setting('before'), after: await store.setting('after') },
    { before: 'before', after: 'after' },
  )
}

export const rangeConformance: readonly ConformanceCase[] = [
  ...Object.entries(INVALID_OPS)
    // In the main thread JSON drops the function; the writer thread refuses it.
    .filter(([name]) => !name.includes('a function'))
    .map(([name, op]) => ({
      name: `${name} is refused, and only its batch fails`,
      async run(store: Store) {
        await assertRefusedAlone(store, { ops: [{ op: 'set', name: 'with it', value: 1 }, op] })
        assert.equal(await store.setting('with it'), null, 'the batch is atomic')
        await enqueueInStore(store, newTestDispatch('good'))
        assert.equal((await store.dispatches({ limit: 10 })).length, 1)
        assert.deepEqual(
          { spend: await store.spend('0000', '9999'), nextTimer: await store.nextTimer() },
          { spend: [], nextTimer: undefined },
        )
      },
    })),
  {
    name: 'metadata with a function does not break the store',
    async run(store) {
      const bad = INVALID_OPS['metadata with a function'] as Op
      await store.commit(Array.from({ length: 8 }, () => ({ ops: [bad] })))
      await enqueueInStore(store, newTestDispatch('good'))
      assert.ok(await store.dispatch('good'))
    },
  },
  {
    name: 'a park with an invalid time, or a record with an invalid number, is refused, and only its batch fails',
    async run(store) {
      await enqueueInStore(store, newTestDispatch('d1'))
      const [fence] = await claimInStore(store, await joinTestWorker(store), 1)
      assert.ok(fence)
      await assertRefusedAlone(store, {
        fence,
        ops: [{ op: 'park', wait: { ...WAIT_FOR_MESSAGE, until: AFTER_9999 }, now: TEST_NOW }],
      })
      const answer = { text: '', calls: [], finish: 'stop', usage: { ...usage, input_tokens: 0.5 } } as const
      for (const invalidRecord of [
        newTestRecord(1, { kind: 'model_answered', turn: 1, answer }),
        newTestRecord(1, { kind: 'step_committed', turn: 1, next: { kind: 'continue' }, ms: Number.NaN }),
        { ...newTestRecord(1), ts: -1 },
      ])
        await assertRefusedAlone(store, {
          fence,
          ops: [{ op: 'append', session_id: 'session-d1', records: [invalidRecord] }],
        })
      assert.deepEqual(await store.journal('session-d1'), [])
    },
  },
  {
    name: 'I11: spend beyond the safe integers stays readable and exceeds its cap',
    async run(store) {
      const most = { input_tokens: 1e9, output_tokens: 1e9, cached_tokens: 0 }
      for (let i = 0; i < 3; i += 1)
        await store.commit([{ ops: [{ op: 'spent', id: `${i}`, usd: 2 ** 53 - 1, usage: most, ...spender }] }])
      const [row] = await store.spend('0000', '9999')
      assert.deepEqual(
        { usd: row?.usd, input_tokens: row?.input_tokens, calls: row?.calls },
        { usd: 2 ** 53 - 1, input_tokens: 3e9, calls: 3 },
      )
      const caps = [{ name: 'c', scope: 'day', unit: 'usd', limit: 2 ** 53 - 1 }] as const
      const [outcome] = await store.commit([{ ops: [{ op: 'reserve', id: 'more', usd: 1, caps, ...spender }] }])
      assert.ok(outcome?.ok && (outcome.results[0] as { refused: unknown }).refused !== null)
    },
  },
]
