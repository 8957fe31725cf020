/** Store conformance: needs. */

import assert from 'node:assert/strict'
import { EMPTY_NEED, type Need, type NewNeed } from '../domain/need.ts'
import { iso } from '../ports/clock.ts'
import { commitOne, type Store } from '../ports/store.ts'
import { assertRefusedWith, type ConformanceCase, TEST_NOW } from './store-test-helpers.ts'

const newNeed = (id: string, more: Partial<NewNeed> = {}): NewNeed => ({
  ...EMPTY_NEED,
  id,
  kind: 'failure',
  same_as: `about ${id}`,
  title: { text: 'A file was set aside', zh: '一个文件被放到一边' },
  body: { text: 'GOAL.md was larger than 1 MB.' },
  choices: [
    { id: 'seen', text: { text: 'Seen', zh: '已看' }, does: { text: 'Keeps it.' }, command: null },
    {
      id: 'drop',
      text: { text: 'Drop it' },
      does: { text: 'Deletes it.' },
      command: {
        name: 'state drop',
        input: { file: 'x', deep: { a: [1, null] } },
        words: { key: 'reason', required: false },
      },
    },
  ],
  ...more,
})

const open = async (store: Store, need: NewNeed, now = TEST_NOW): Promise<unknown> =>
  (await commitOne(store, [{ op: 'need_open', need, now }]))[0]

const openedAt = (need: NewNeed, now = TEST_NOW): Need => ({
  ...need,
  status: 'open',
  answer: null,
  asked_at: iso(now),
  ended_at: null,
})

const statuses = async (store: Store): Promise<unknown[]> =>
  (await store.needs({ limit: 9 })).items.map(({ id, status }) => [id, status])

export const needConformance: readonly ConformanceCase[] = [
  {
    name: 'E11: a need is kept whole, is opened once, and takes newer texts while it is open',
    async run(store) {
      const first = newNeed('a', {
        agent_id: 'writer',
        session_id: 's',
        run_id: 'r',
        expires_at: iso(TEST_NOW + 5),
        after_expiry: { text: 'Nothing happens.' },
        because: { message_id: 'm', words: 'write it', at: iso(TEST_NOW) },
      })
      assert.deepEqual(await open(store, first), { id: 'a', opened: true })
      assert.deepEqual(await store.need('a'), openedAt(first))
      assert.deepEqual(await open(store, first, TEST_NOW + 1), { id: 'a', opened: false })
      const newer = newNeed('b', { same_as: 'about a', kind: 'space', body: { text: 'Two files.' } })
      assert.deepEqual(await open(store, newer, TEST_NOW + 2), { id: 'a', opened: false })
      assert.deepEqual(await store.openNeed('about a'), openedAt({ ...newer, id: 'a' }))
      assert.deepEqual([await store.need('b'), await store.openNeed('about b')], [undefined, undefined])
    },
  },
  {
    name: 'E11: a need is answered once; afterwards the same matter opens a new one',
    async run(store) {
      await open(store, newNeed('a'))
      const answer = { choice: 'seen', words: 'all right' }
      await assertRefusedWith('not_found', commitOne(store, [{ op: 'need_answer', id: 'x', answer, now: TEST_NOW }]))
      await commitOne(store, [{ op: 'need_answer', id: 'a', answer, now: TEST_NOW + 1 }])
      const again = { choice: 'drop', words: null }
      const late = { op: 'need_answer', id: 'a', answer: again, now: TEST_NOW + 2 } as const
      await assertRefusedWith('conflict', commitOne(store, [late]))
      const answered = { ...openedAt(newNeed('a')), status: 'answered', answer, ended_at: iso(TEST_NOW + 1) }
      assert.deepEqual([await store.need('a'), await store.openNeed('about a')], [answered, undefined])
      assert.deepEqual(await open(store, newNeed('a')), { id: 'a', opened: false })
      assert.deepEqual(await open(store, newNeed('b', { same_as: 'about a' })), { id: 'b', opened: true })
      assert.deepEqual(await statuses(store), [
        ['b', 'open'],
        ['a', 'answered'],
      ])
    },
  },
  {
    name: 'E11: a need is withdrawn with its reason; one that was answered stays answered',
    async run(store) {
      await open(store, newNeed('a'))
      const withdraw = { op: 'need_withdraw', same_as: 'about a', now: TEST_NOW + 1 } as const
      assert.deepEqual(await commitOne(store, [withdraw]), [{ withdrawn: true }])
      assert.deepEqual(await commitOne(store, [withdraw]), [{ withdrawn: false }])
      const late = { op: 'need_answer', id: 'a', answer: { choice: 'seen', words: null }, now: TEST_NOW } as const
      await assertRefusedWith('conflict', commitOne(store, [late]))
      await open(store, newNeed('b'))
      await commitOne(store, [{ ...late, id: 'b' }])
      assert.deepEqual(await commitOne(store, [{ ...withdraw, same_as: 'about b' }]), [{ withdrawn: false }])
      assert.deepEqual(await statuses(store), [
        ['b', 'answered'],
        ['a', 'withdrawn'],
      ])
    },
  },
  {
    name: 'needs are listed newest first, in pages, by status',
    async run(store) {
      for (const id of ['a', 'b', 'c', 'd']) await open(store, newNeed(id))
      await commitOne(store, [{ op: 'need_withdraw', same_as: 'about c', now: TEST_NOW }])
      const ids = async (filter: Parameters<Store['needs']>[0]): Promise<unknown> => {
        const { items, total } = await store.needs(filter)
        return [total, ...items.map(({ id }) => id)]
      }
      assert.deepEqual(await ids({ limit: 2 }), [4, 'd', 'c'])
      assert.deepEqual(await ids({ status: 'open', offset: 1, limit: 9 }), [3, 'b', 'a'])
      assert.deepEqual(await ids({ status: 'withdrawn', limit: 9 }), [1, 'c'])
      assert.deepEqual(await ids({ status: 'answered', limit: 9 }), [0])
    },
  },
  {
    name: 'a need that could not be shown is refused',
    async run(store) {
      const bad = { ...newNeed('a'), choices: [{ id: 'x', text: 'Seen' }] } as unknown as NewNeed
      await assertRefusedWith('store_invalid', commitOne(store, [{ op: 'need_open', need: bad, now: TEST_NOW }]))
      assert.deepEqual(await statuses(store), [])
    },
  },
  {
    name: 'retention deletes needs that have ended, however old the open ones are',
    async run(store) {
      for (const id of ['a', 'b', 'c', 'd']) await open(store, newNeed(id))
      const answer = { choice: 'seen', words: null }
      await commitOne(store, [
        { op: 'need_answer', id: 'b', answer, now: TEST_NOW + 1 },
        { op: 'need_withdraw', same_as: 'about c', now: TEST_NOW + 1 },
        { op: 'need_answer', id: 'd', answer, now: TEST_NOW + 9 },
      ])
      await commitOne(store, [{ op: 'prune', before: TEST_NOW + 5, limit: 10 }])
      assert.deepEqual(await statuses(store), [
        ['d', 'answered'],
        ['a', 'open'],
      ])
    },
  },
]
