/** Store conformance: undos, and facts that end and come back. */

import assert from 'node:assert/strict'
import type { NewFact } from '../domain/fact.ts'
import type { NewUndo } from '../domain/undo.ts'
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
    name: 'an undo is recorded whole before it begins; only one is unfinished; it ends once',
    async run(store) {
      await commitOne(store, [{ op: 'undo_begin', undo: newUndo('u1'), now: TEST_NOW }])
      const running = { ...newUndo('u1'), status: 'running', created_at: iso(TEST_NOW), ended_at: null }
      assert.deepEqual(await store.unfinishedUndo(), running)
      await assertRefusedWith('conflict', commitOne(store, [{ op: 'undo_begin', undo: newUndo('u2'), now: TEST_NOW }]))
      await commitOne(store, [{ op: 'undo_end', id: 'u1', now: TEST_NOW + 1 }])
      const done = { ...running, status: 'done', ended_at: iso(TEST_NOW + 1) }
      assert.deepEqual([await store.undo('u1'), await store.unfinishedUndo()], [done, undefined])
      await assertRefusedWith('not_found', commitOne(store, [{ op: 'undo_end', id: 'u1', now: TEST_NOW + 2 }]))
      await assertRefusedWith('conflict', commitOne(store, [{ op: 'undo_begin', undo: newUndo('u1'), now: TEST_NOW }]))
      await commitOne(store, [{ op: 'undo_begin', undo: newUndo('u2', { undoes: 'u1' }), now: TEST_NOW + 3 }])
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
        { op: 'undo_end', id: 'old', now: TEST_NOW },
        { op: 'undo_begin', undo: newUndo('new'), now: TEST_NOW },
      ])
      const [{ runs }] = await commitOne(store, [{ op: 'prune', before: TEST_NOW + 1, limit: 10 }])
      assert.deepEqual([runs, (await store.undos({ limit: 9 })).map(({ id }) => id)], [['old'], ['new']])
    },
  },
]
