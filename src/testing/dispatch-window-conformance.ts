/** Store conformance: windows of dispatches by filter and words. */

import assert from 'node:assert/strict'
import { commitOne, type Store } from '../ports/store.ts'
import { type ConformanceCase, newTestDispatch, settleOp, startDispatch, TEST_NOW } from './store-test-helpers.ts'

async function enqueueAt(
  store: Store,
  now: number,
  ...dispatches: ReturnType<typeof newTestDispatch>[]
): Promise<void> {
  await commitOne(store, [{ op: 'enqueue', now, dispatches }])
}

type Wanted = Partial<Parameters<Store['dispatchWindow']>[0]>

/** Contract: the ids of the window, and how many match. */
async function readWindow(store: Store, wanted: Wanted = {}): Promise<readonly [string, number]> {
  const { items, total } = await store.dispatchWindow({ offset: 0, limit: 10, ...wanted })
  return [items.map(({ dispatch_id }) => dispatch_id).join(' '), total]
}

export const dispatchWindowConformance: readonly ConformanceCase[] = [
  {
    name: 'Q15: a window of dispatches starts where it is asked to, newest first, and says how many there are',
    async run(store) {
      assert.deepEqual(await readWindow(store), ['', 0])
      await enqueueAt(store, TEST_NOW, ...['a', 'b', 'c', 'd', 'e'].map((id) => newTestDispatch(id)))
      assert.deepEqual(await readWindow(store, { limit: 2 }), ['e d', 5])
      assert.deepEqual(await readWindow(store, { limit: 2, offset: 3 }), ['b a', 5])
      assert.deepEqual(await readWindow(store, { limit: 2, offset: 9 }), ['', 5])
    },
  },
  {
    name: 'Q15: dispatches are filtered by status, agent and the time of their creation',
    async run(store) {
      await enqueueAt(store, TEST_NOW, newTestDispatch('a', { agent_id: 'one' }))
      await enqueueAt(store, TEST_NOW + 5, newTestDispatch('b', { agent_id: 'two' }))
      await enqueueAt(store, TEST_NOW + 9, newTestDispatch('c', { agent_id: 'two' }))
      await startDispatch(store, 'd')
      assert.deepEqual(await readWindow(store, { agent_id: 'two' }), ['c b', 2])
      assert.deepEqual(await readWindow(store, { status: 'running' }), ['a', 1])
      assert.deepEqual(await readWindow(store, { agent_id: 'two', status: 'running' }), ['', 0])
      const created = { from: TEST_NOW + 5, to: TEST_NOW + 9 }
      assert.deepEqual(await readWindow(store, { created }), ['b', 1])
      assert.deepEqual(await readWindow(store, { created: { from: null, to: TEST_NOW + 9 }, agent_id: 'two' }), [
        'b',
        1,
      ])
    },
  },
  {
    name: 'Q15: words are found in id, prompt, result and error, all of them, in any case; none is a pattern',
    async run(store) {
      const { fence } = await startDispatch(store, 'worked')
      const result = 'Sold 100% of the Apples_and pears'
      await commitOne(store, [{ ...settleOp('done'), result, error: null }], fence)
      await enqueueAt(store, TEST_NOW, newTestDispatch('later', { prompt: '统计每周的苹果 apples' }))
      assert.deepEqual(await readWindow(store, { words: ['APPLES'] }), ['later worked', 2])
      assert.deepEqual(await readWindow(store, { words: ['apples', 'pears'] }), ['worked', 1])
      assert.deepEqual(await readWindow(store, { words: ['苹果'] }), ['later', 1])
      assert.deepEqual(await readWindow(store, { words: ['0% of'] }), ['worked', 1])
      assert.deepEqual(await readWindow(store, { words: ['a%e'] }), ['', 0])
      assert.deepEqual(await readWindow(store, { words: ['s_and'] }), ['worked', 1])
      assert.deepEqual(await readWindow(store, { words: ['w_rked'] }), ['', 0])
      assert.deepEqual(await readWindow(store, { words: ['worked'], status: 'done' }), ['worked', 1])
      assert.deepEqual(await readWindow(store, { words: ['e'], offset: 1, limit: 1 }), ['worked', 2])
    },
  },
]
