/** Store conformance: undos, and facts that end and come back. */

import assert from 'node:assert/strict'
import type { NewFact } from '../domain/fact.ts'
import type { NewUndo, Undo } from '../domain/undo.ts'
import { iso } from '../ports/clock.ts'
import { commitOne, type Store } from '../ports/store.ts'
import { assertRefusedWith, type ConformanceCase, TEST_NOW } from './store-test-helpers.ts'

const newUndo = (id: string, more: Partial<NewUndo> = {}): NewUndo => ({
  ...{ id, target: 'today', runs: ['r1', 'r2'], undoes: null, cancelled: ['d'], home: 'h' },
  workspaces: [{ workspace: '/w', changes: [{ path: 'a\xff', before: 'f 644 1', after: null }] }],
  documents: [{ name: 'STATE.md', versions: [3, 2] }],
  facts: [{ id: 'f', from: 'known', to: 'undone', ended_by: id }],
  ...more,
})

const endOf = (id: string, now: number) => ({ op: 'undo_end', id, how: 'done', kept: [], now }) as const

const idsOf = async (undos: Promise<readonly Undo[]>): Promise<string[]> => (await undos).map(({ id }) => id)

const rememberFact = async (store: Store, id: string, text: string): Promise<void> => {
  const fact: NewFact = {
    ...{ id, key: 'tea', text, agent_id: 'agent', session_id: 's', turn: 1, private: false },
    ...{ trust: 'trusted', created_at: iso(TEST_NOW), expires_at: null },
  }
  await commitOne(store, [{ op: 'remember', fact, now: TEST_NOW }])
}

const recall = async (store: Store, text: string): Promise<string[]> =>
  (await store.recallFacts({ text, now: TEST_NOW, limit: 9 })).map(({ id }) => id)

const endings = async (store: Store): Promise<unknown[]> =>
  (await store.facts({ over: true, now: TEST_NOW, limit: 9 })).map(({ id, status, ended_by }) => [id, status, ended_by])

export const undoConformance: readonly ConformanceCase[] = [
  {
    name: 'an undo is recorded whole before it begins, also beside one that is not finished; it ends once',
    async run(store) {
      await commitOne(store, [{ op: 'undo_begin', undo: newUndo('u1'), now: TEST_NOW }])
      const running = { ...newUndo('u1'), status: 'running', created_at: iso(TEST_NOW), ended_at: null }
      assert.deepEqual(await store.unfinishedUndos(), [running])
      await assertRefusedWith('conflict', commitOne(store, [{ op: 'undo_begin', undo: newUndo('u1'), now: TEST_NOW }]))
      await commitOne(store, [{ op: 'undo_begin', undo: newUndo('u2', { undoes: 'u1' }), now: TEST_NOW }])
      assert.deepEqual(await idsOf(store.unfinishedUndos()), ['u1', 'u2'])
      await commitOne(store, [endOf('u1', TEST_NOW + 1)])
      const done = { ...running, status: 'done', ended_at: iso(TEST_NOW + 1) }
      assert.deepEqual([await store.undo('u1'), await idsOf(store.unfinishedUndos())], [done, ['u2']])
      await assertRefusedWith('not_found', commitOne(store, [endOf('u1', TEST_NOW + 2)]))
      await assertRefusedWith('conflict', commitOne(store, [{ op: 'undo_begin', undo: newUndo('u1'), now: TEST_NOW }]))
      const listed = await store.undos({ limit: 9 })
      assert.deepEqual(
        listed.map(({ id, undoes }) => [id, undoes]),
        [
          ['u2', 'u1'],
          ['u1', null],
        ],
      )
    },
  },
  {
    name: 'an undo that stopped says why and what it kept, until it ends; one that was given up stays so',
    async run(store) {
      const failed = { workspace: '/w', name: 'a\xff', why: 'failed', error: 'the disk is full' } as const
      const given = { ...failed, why: 'given_up', error: null } as const
      await commitOne(store, [{ op: 'undo_begin', undo: newUndo('u1'), now: TEST_NOW }])
      await commitOne(store, [{ op: 'undo_stop', id: 'u1', why: 'the disk is full', kept: [failed] }])
      const [stopped] = await store.unfinishedUndos()
      assert.deepEqual([stopped?.stopped, stopped?.kept, stopped?.status], ['the disk is full', [failed], 'running'])
      await commitOne(store, [{ op: 'undo_end', id: 'u1', how: 'given_up', kept: [given], now: TEST_NOW + 1 }])
      const ended = await store.undo('u1')
      assert.deepEqual(
        [ended?.status, ended?.kept, ended?.ended_at, ended?.workspaces],
        ['given_up', [given], iso(TEST_NOW + 1), newUndo('u1').workspaces],
      )
      await assertRefusedWith('not_found', commitOne(store, [{ op: 'undo_stop', id: 'u1', why: 'again', kept: [] }]))
      assert.deepEqual(await store.unfinishedUndos(), [])
    },
  },
  {
    name: 'a fact knows what ended it; a change of facts makes the earlier one known and found again, all or none',
    async run(store) {
      await rememberFact(store, 'a', 'green tea')
      await rememberFact(store, 'b', 'black tea')
      assert.deepEqual(await endings(store), [
        ['b', 'known', null],
        ['a', 'superseded', 'b'],
      ])
      const back = { id: 'a', from: 'superseded', to: 'known', ended_by: null } as const
      const undone = { id: 'b', from: 'known', to: 'undone', ended_by: 'u' } as const
      const stale = { ...undone, id: 'a' }
      await assertRefusedWith('conflict', commitOne(store, [{ op: 'change_facts', changes: [undone, stale] }]))
      assert.deepEqual(await recall(store, 'black'), ['b'])
      await commitOne(store, [{ op: 'change_facts', changes: [back, undone] }])
      assert.deepEqual(await endings(store), [
        ['b', 'undone', 'u'],
        ['a', 'known', null],
      ])
      assert.deepEqual([await recall(store, 'black'), await recall(store, 'green')], [[], ['a']])
    },
  },
  {
    name: 'retention deletes ended undos and names them',
    async run(store) {
      await commitOne(store, [
        { op: 'undo_begin', undo: newUndo('old'), now: TEST_NOW },
        endOf('old', TEST_NOW),
        { op: 'undo_begin', undo: newUndo('new'), now: TEST_NOW },
      ])
      const [{ runs }] = await commitOne(store, [{ op: 'prune', before: TEST_NOW + 1, limit: 10 }])
      assert.deepEqual([runs, (await store.undos({ limit: 9 })).map(({ id }) => id)], [['old'], ['new']])
    },
  },
]
