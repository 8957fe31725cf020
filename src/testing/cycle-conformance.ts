/** What every store must show of cycles; part of the store's conformance suite. */

import assert from 'node:assert/strict'
import { type CycleResult, errorResult } from '../domain/cycle.ts'
import { commitOne, type Store } from '../ports/store.ts'
import { type ConformanceCase, dispatchOf, enqueue, NOW, refused } from './store-cases.ts'

const begin = (store: Store, cycle_id: string, more: { kernel_id?: string; due?: number; now?: number } = {}) =>
  commitOne(store, [
    { op: 'cycle_begin', cycle_id, kernel_id: 'k', trigger: 'schedule', due: null, now: NOW, ...more },
  ]).then(([begun]) => begun)

const resultOf = (cycle_id: string): CycleResult => ({
  ...errorResult(cycle_id, '', 7),
  status: 'success',
  error: null,
})

const end = (store: Store, cycle_id: string, open: readonly string[] = []) =>
  commitOne(store, [{ op: 'cycle_end', result: resultOf(cycle_id), open, now: NOW + 7 }])

export const cycleConformance: readonly ConformanceCase[] = [
  {
    name: 'I6: a cycle is on record from its beginning, and ends once, with what came of it',
    async run(store) {
      assert.deepEqual(await begin(store, 'c1', { due: NOW - 5 }), { interrupted: [], left: [] })
      const [begun] = await store.cycles('k', { limit: 9 })
      assert.deepEqual([begun?.cycle_id, begun?.ended_at, begun?.result, begun?.open], ['c1', null, null, []])
      await end(store, 'c1', ['d1'])
      const [ended] = await store.cycles('k', { limit: 9 })
      assert.deepEqual([ended?.result, ended?.open], [resultOf('c1'), ['d1']])
      await refused('conflict', end(store, 'c1'))
      await refused('conflict', end(store, 'never begun'))
    },
  },
  {
    name: 'I6: a cycle that its process did not live to end is an error, told to the one after it; another kernel has its own',
    async run(store) {
      await begin(store, 'c1')
      await begin(store, 'other', { kernel_id: 'k2' })
      assert.deepEqual(await begin(store, 'c2', { now: NOW + 50 }), { interrupted: ['c1'], left: [] })
      const [, first] = await store.cycles('k', { limit: 9 })
      assert.deepEqual([first?.result?.status, first?.result?.duration_ms], ['error', 50])
      assert.match(first?.result?.error ?? '', /program ended/)
      assert.equal((await store.cycles('k2', { limit: 9 }))[0]?.ended_at, null)
      assert.deepEqual(
        (await store.cycles('k', { limit: 1 })).map(({ cycle_id }) => cycle_id),
        ['c2'],
      )
    },
  },
  {
    name: 'I6: what a cycle leaves under way, or did not live to count, is left to the next, however many of them are cut short',
    async run(store) {
      await begin(store, 'c1')
      await end(store, 'c1', ['d0'])
      assert.deepEqual(await begin(store, 'c2'), { interrupted: [], left: ['d0'] })
      await enqueue(store, { ...dispatchOf('d1'), cycle_id: 'c2' })
      assert.deepEqual(await begin(store, 'c3'), { interrupted: ['c2'], left: ['d0', 'd1'] })
      assert.deepEqual(await begin(store, 'other', { kernel_id: 'k2' }), { interrupted: [], left: [] })
      assert.deepEqual(await begin(store, 'c4'), { interrupted: ['c3'], left: ['d0', 'd1'] })
      await end(store, 'c4', ['d1'])
      assert.deepEqual(await begin(store, 'c5'), { interrupted: [], left: ['d1'] })
    },
  },
  {
    name: "E5: an agent's last dispatches, newest first; a cycle's, in the order of their making",
    async run(store) {
      for (const id of ['d1', 'd2', 'd3']) await enqueue(store, { ...dispatchOf(id), agent_id: 'a', cycle_id: 'c1' })
      await enqueue(store, { ...dispatchOf('d4'), agent_id: 'b', cycle_id: 'c2' })
      await enqueue(store, { ...dispatchOf('d5'), agent_id: 'a', kernel_id: 'other' })
      const { kernel_id } = dispatchOf('d1')
      const ids = (found: readonly { dispatch_id: string }[]) => found.map(({ dispatch_id }) => dispatch_id)
      assert.deepEqual(ids(await store.recent(kernel_id, 'a', 2)), ['d3', 'd2'])
      assert.deepEqual(ids(await store.recent(kernel_id, 'nobody', 2)), [])
      assert.deepEqual(ids(await store.dispatchesOf('c1')), ['d1', 'd2', 'd3'])
    },
  },
  {
    name: 'a setting is the last word that was set, until it is taken back',
    async run(store) {
      assert.equal(await store.setting('paused'), null)
      await commitOne(store, [{ op: 'set', name: 'paused', value: { since: 1 } }])
      await commitOne(store, [{ op: 'set', name: 'paused', value: true }])
      assert.equal(await store.setting('paused'), true)
      await commitOne(store, [{ op: 'set', name: 'paused', value: null }])
      assert.equal(await store.setting('paused'), null)
    },
  },
]
