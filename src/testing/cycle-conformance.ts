/** Store conformance: cycles and settings. */

import assert from 'node:assert/strict'
import { type CycleResult, errorCycleResult } from '../domain/cycle.ts'
import { commitOne, type Store } from '../ports/store.ts'
import {
  assertRefusedWith,
  type ConformanceCase,
  enqueueInStore,
  newTestDispatch,
  TEST_NOW,
} from './store-test-helpers.ts'

const beginCycle = (store: Store, cycle_id: string, more: { kernel_id?: string; due?: number; now?: number } = {}) =>
  commitOne(store, [
    { op: 'cycle_begin', cycle_id, kernel_id: 'k', trigger: 'schedule', due: null, now: TEST_NOW, ...more },
  ]).then(([begun]) => begun)

const successResult = (cycle_id: string): CycleResult => ({
  ...errorCycleResult(cycle_id, '', 7),
  status: 'success',
  error: null,
})

const endCycle = (store: Store, cycle_id: string, open: readonly string[] = []) =>
  commitOne(store, [{ op: 'cycle_end', result: successResult(cycle_id), open, now: TEST_NOW + 7 }])

export const cycleConformance: readonly ConformanceCase[] = [
  {
    name: 'I6: a cycle is stored when it begins and ends once, with its result',
    async run(store) {
      assert.deepEqual(await beginCycle(store, 'c1', { due: TEST_NOW - 5 }), { interrupted: [], left: [] })
      const [begun] = await store.cycles('k', { limit: 9 })
      assert.deepEqual(
        { cycle_id: begun?.cycle_id, ended_at: begun?.ended_at, result: begun?.result, open: begun?.open },
        { cycle_id: 'c1', ended_at: null, result: null, open: [] },
      )
      await endCycle(store, 'c1', ['d1'])
      const [ended] = await store.cycles('k', { limit: 9 })
      assert.deepEqual({ result: ended?.result, open: ended?.open }, { result: successResult('c1'), open: ['d1'] })
      await assertRefusedWith('conflict', endCycle(store, 'c1'))
      await assertRefusedWith('conflict', endCycle(store, 'never begun'))
    },
  },
  {
    name: 'I6: the next cycle of the same kernel ends an interrupted one as an error',
    async run(store) {
      await beginCycle(store, 'c1')
      await beginCycle(store, 'other', { kernel_id: 'k2' })
      assert.deepEqual(await beginCycle(store, 'c2', { now: TEST_NOW + 50 }), { interrupted: ['c1'], left: [] })
      const [, first] = await store.cycles('k', { limit: 9 })
      assert.deepEqual(
        { status: first?.result?.status, duration_ms: first?.result?.duration_ms },
        { status: 'error', duration_ms: 50 },
      )
      assert.match(first?.result?.error ?? '', /program ended/)
      assert.equal((await store.cycles('k2', { limit: 9 }))[0]?.ended_at, null)
      assert.deepEqual(
        (await store.cycles('k', { limit: 1 })).map(({ cycle_id }) => cycle_id),
        ['c2'],
      )
    },
  },
  {
    name: 'I6: open dispatches pass to the next cycle, also over several interrupted cycles',
    async run(store) {
      await beginCycle(store, 'c1')
      await endCycle(store, 'c1', ['d0'])
      assert.deepEqual(await beginCycle(store, 'c2'), { interrupted: [], left: ['d0'] })
      await enqueueInStore(store, { ...newTestDispatch('d1'), cycle_id: 'c2' })
      assert.deepEqual(await beginCycle(store, 'c3'), { interrupted: ['c2'], left: ['d0', 'd1'] })
      assert.deepEqual(await beginCycle(store, 'other', { kernel_id: 'k2' }), { interrupted: [], left: [] })
      assert.deepEqual(await beginCycle(store, 'c4'), { interrupted: ['c3'], left: ['d0', 'd1'] })
      await endCycle(store, 'c4', ['d1'])
      assert.deepEqual(await beginCycle(store, 'c5'), { interrupted: [], left: ['d1'] })
    },
  },
  {
    name: 'I8: ended cycles are counted, and those that started no dispatch',
    async run(store) {
      for (const [id, now] of [
        ['early', TEST_NOW - 1],
        ['quiet', TEST_NOW],
        ['planned', TEST_NOW],
        ['worked', TEST_NOW],
      ] as const) {
        await beginCycle(store, id, { now })
        if (id === 'planned') await enqueueInStore(store, { ...newTestDispatch('p'), cycle_id: id })
        const dispatched = id === 'worked' ? 1 : 0
        const result = { ...successResult(id), dispatched }
        await commitOne(store, [{ op: 'cycle_end', result, open: [], now: TEST_NOW + 7 }])
      }
      await beginCycle(store, 'open')
      await beginCycle(store, 'other', { kernel_id: 'k2' })
      assert.deepEqual(await store.countCycles('k', TEST_NOW), { ended: 3, quiet: 1 })
      assert.deepEqual(await store.countCycles('nobody', TEST_NOW), { ended: 0, quiet: 0 })
    },
  },
  {
    name: "E5: an agent's last dispatches come newest first, a cycle's in order of creation",
    async run(store) {
      for (const id of ['d1', 'd2', 'd3'])
        await enqueueInStore(store, { ...newTestDispatch(id), agent_id: 'a', cycle_id: 'c1' })
      await enqueueInStore(store, { ...newTestDispatch('d4'), agent_id: 'b', cycle_id: 'c2' })
      await enqueueInStore(store, { ...newTestDispatch('d5'), agent_id: 'a', kernel_id: 'other' })
      const { kernel_id } = newTestDispatch('d1')
      const ids = (found: readonly { dispatch_id: string }[]) => found.map(({ dispatch_id }) => dispatch_id)
      assert.deepEqual(ids(await store.recent(kernel_id, 'a', 2)), ['d3', 'd2'])
      assert.deepEqual(ids(await store.recent(kernel_id, 'nobody', 2)), [])
      assert.deepEqual(ids(await store.dispatchesOf('c1')), ['d1', 'd2', 'd3'])
    },
  },
  {
    name: 'a setting keeps its last value until it is removed',
    async run(store) {
      assert.equal(await store.setting('paused'), null)
      await commitOne(store, [{ op: 'set', name: 'paused', value: { since: 1 } }])
      await commitOne(store, [{ op: 'set', name: 'paused', value: true }])
      assert.equal(await store.setting('paused'), true)
      await commitOne(store, [{ op: 'set', name: 'paused', value: null }])
      assert.equal(await store.setting('paused'), null)
    },
  },
  {
    name: 'E15: of two changes of a setting that start from the same value, one is refused with all its batch',
    async run(store) {
      const change = (value: string | null, base: string | null) =>
        commitOne(store, [
          { op: 'set', name: `also ${value}`, value: true },
          { op: 'set', name: 'list', value, base },
        ])
      const both = await Promise.allSettled([change('a', null), change('b', null)])
      assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
      const stored = String(await store.setting('list'))
      const other = stored === 'a' ? 'b' : 'a'
      assert.equal(await store.setting(`also ${other}`), null)
      await assertRefusedWith('store_sequence', change('c', null))
      await assertRefusedWith('store_sequence', change('c', other))
      await change('c', stored)
      await change(null, 'c')
      await change(null, null)
      assert.equal(await store.setting('list'), null)
    },
  },
]
