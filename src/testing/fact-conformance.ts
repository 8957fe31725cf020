/** Store conformance: facts. */

import assert from 'node:assert/strict'
import { type Fact, MAX_ENDED_FACTS, MAX_FACTS, type NewFact } from '../domain/fact.ts'
import { iso } from '../ports/clock.ts'
import { commitOne, type Op, type Store } from '../ports/store.ts'
import { type ConformanceCase, TEST_NOW } from './store-test-helpers.ts'

const newFact = (id: string, key: string, text: string, more: Partial<NewFact> = {}): NewFact => ({
  id,
  key,
  text,
  agent_id: 'agent',
  session_id: 'session',
  turn: 3,
  trust: 'untrusted',
  private: true,
  created_at: iso(TEST_NOW),
  expires_at: null,
  ...more,
})

const rememberOp = (fact: NewFact, now = TEST_NOW): Op & { op: 'remember' } => ({ op: 'remember', fact, now })

const forgetOp = (key: string, before = TEST_NOW, agent_id = 'agent'): Op & { op: 'forget' } => ({
  op: 'forget',
  agent_id,
  key,
  before,
})

const recallKeys = async (store: Store, text: string, now = TEST_NOW, agent_id = 'agent'): Promise<string[]> =>
  (await store.recallFacts({ agent_id, text, now, limit: 10 })).map(({ key }) => key)

const listFacts = async (store: Store, over: boolean, now = TEST_NOW): Promise<readonly Fact[]> =>
  store.facts({ over, now, limit: 100_000 })

const listStatuses = async (store: Store): Promise<string[]> =>
  (await listFacts(store, true)).map(({ id, status }) => `${id} ${status}`)

export const factConformance: readonly ConformanceCase[] = [
  {
    name: 'O14: a fact is returned with text, origin and labels',
    async run(store) {
      const fact = newFact('s.3.0', 'deploy', 'The deploy key lives in the vault', { expires_at: iso(TEST_NOW + 5) })
      const [done] = await commitOne(store, [rememberOp(fact)])
      assert.deepEqual(done, { superseded: false, dropped: [] })
      assert.deepEqual(await listFacts(store, false), [{ ...fact, status: 'known', ended_by: null }])
      assert.deepEqual(await store.recallFacts({ text: 'VAULT?', now: TEST_NOW, limit: 1 }), [
        { ...fact, status: 'known', ended_by: null },
      ])
    },
  },
  {
    name: 'O14: facts are listed in windows and counted',
    async run(store) {
      for (const [at, agent_id] of ['a', 'b', 'a', 'a'].entries())
        await commitOne(store, [rememberOp(newFact(`f${at}`, `key ${at}`, 'text', { agent_id }))])
      await commitOne(store, [forgetOp('key 3', TEST_NOW, 'a')])
      const window = async (filter: { agent_id?: string; over?: boolean }, offset: number): Promise<string[]> =>
        (await store.facts({ ...filter, now: TEST_NOW, limit: 2, offset })).map(({ id }) => id)
      assert.deepEqual(await window({}, 0), ['f2', 'f1'])
      assert.deepEqual(await window({}, 1), ['f1', 'f0'])
      assert.deepEqual(await window({ agent_id: 'a', over: true }, 2), ['f0'])
      assert.deepEqual(await window({}, 3), [])
      assert.equal(await store.countFacts({ now: TEST_NOW }), 3)
      assert.equal(await store.countFacts({ agent_id: 'a', over: true, now: TEST_NOW }), 3)
    },
  },
  {
    name: 'O14: a new fact supersedes the old one of the same key; a repeated call changes nothing',
    async run(store) {
      await commitOne(store, [rememberOp(newFact('a', 'tea', 'green tea'))])
      const [second] = await commitOne(store, [rememberOp(newFact('b', 'tea', 'black coffee'))])
      assert.equal(second.superseded, true)
      assert.deepEqual(await commitOne(store, [rememberOp(newFact('a', 'tea', 'green tea'))]), [
        { superseded: false, dropped: [] },
      ])
      assert.deepEqual(await listStatuses(store), ['b known', 'a superseded'])
      assert.deepEqual(
        { green: await recallKeys(store, 'green'), coffee: await recallKeys(store, 'coffee') },
        { green: [], coffee: ['tea'] },
      )
      assert.deepEqual(
        (await listFacts(store, false)).map(({ text }) => text),
        ['black coffee'],
      )
    },
  },
  {
    name: 'O14: forget deletes the text, also of superseded facts; a late call does not restore it',
    async run(store) {
      await commitOne(store, [
        rememberOp(newFact('a', 'tea', 'green tea')),
        rememberOp(newFact('b', 'tea', 'black tea')),
      ])
      await commitOne(store, [rememberOp(newFact('c', 'milk', 'oat milk'))])
      assert.deepEqual(await commitOne(store, [forgetOp('tea')]), [{ forgotten: true }])
      assert.deepEqual(await commitOne(store, [forgetOp('tea')]), [{ forgotten: false }])
      await commitOne(store, [rememberOp(newFact('b', 'tea', 'black tea'))])
      assert.deepEqual(await listStatuses(store), ['c known', 'b forgotten', 'a forgotten'])
      assert.equal(JSON.stringify(await listFacts(store, true)).includes(' tea'), false)
      assert.deepEqual(
        { tea: await recallKeys(store, 'tea'), milk: await recallKeys(store, 'milk') },
        { tea: [], milk: ['milk'] },
      )
    },
  },
  {
    name: 'O14: forget does not affect newer facts or facts of other agents',
    async run(store) {
      await commitOne(store, [rememberOp(newFact('a', 'tea', 'green tea', { created_at: iso(TEST_NOW + 1) }))])
      await commitOne(store, [rememberOp(newFact('b', 'tea', 'red tea', { agent_id: 'other' }))])
      assert.deepEqual(await commitOne(store, [forgetOp('tea')]), [{ forgotten: false }])
      assert.deepEqual(
        { own: await recallKeys(store, 'tea'), other: await recallKeys(store, 'tea', TEST_NOW, 'other') },
        { own: ['tea'], other: ['tea'] },
      )
      await commitOne(store, [forgetOp('tea', TEST_NOW + 1)])
      assert.deepEqual(
        { own: await recallKeys(store, 'tea'), other: await recallKeys(store, 'tea', TEST_NOW, 'other') },
        { own: [], other: ['tea'] },
      )
    },
  },
  {
    name: 'K3: a fact is no longer known once it expires',
    async run(store) {
      await commitOne(store, [rememberOp(newFact('a', 'offer', 'cheap tea', { expires_at: iso(TEST_NOW + 10) }))])
      assert.deepEqual(await recallKeys(store, 'tea', TEST_NOW + 9), ['offer'])
      assert.deepEqual(await recallKeys(store, 'tea', TEST_NOW + 10), [])
      assert.equal((await listFacts(store, false, TEST_NOW + 9)).length, 1)
      assert.equal((await listFacts(store, false, TEST_NOW + 10)).length, 0)
      await commitOne(store, [rememberOp(newFact('b', 'other', 'coffee'), TEST_NOW + 10)])
      assert.deepEqual(await listStatuses(store), ['b known', 'a expired'])
    },
  },
  {
    name: 'O14: search works in any language, with single characters and word forms; signs find nothing',
    async run(store) {
      const texts = {
        zh: '生产服务器在上海，养了一只猫',
        ja: 'パスワードは金庫の中',
        ko: '서버는 서울에 있다',
        en: 'Deployments use «foo_bar»',
      }
      await commitOne(
        store,
        Object.entries(texts).map(([key, text]) => rememberOp(newFact(key, key, text))),
      )
      for (const [query, key] of [
        ['服务器在哪里？', 'zh'],
        ['猫', 'zh'],
        ['金庫', 'ja'],
        ['서울', 'ko'],
        ['deployment', 'en'],
        ['foo_bar', 'en'],
        ['"foo" OR (bar*', 'en'],
      ])
        assert.deepEqual(await recallKeys(store, query ?? ''), [key], query)
      assert.deepEqual(await recallKeys(store, '"*() -?'), [])
      assert.deepEqual(await recallKeys(store, ''), [])
    },
  },
  {
    name: 'K3: facts are limited: the oldest are dropped and named, and can be listed',
    async run(store) {
      const many = MAX_FACTS + MAX_ENDED_FACTS + 100
      for (let i = 0; i < many; i += 100)
        await commitOne(
          store,
          Array.from({ length: 100 }, (_, n) => rememberOp(newFact(`f${i + n}`, `key ${i + n}`, `number ${i + n}`))),
        )
      const [{ dropped }] = await commitOne(store, [rememberOp(newFact('last', 'last', 'the last'))])
      assert.deepEqual(dropped, [`key ${many - MAX_FACTS}`])
      const all = await listFacts(store, true)
      assert.equal(all.filter(({ status }) => status === 'known').length, MAX_FACTS)
      assert.equal(all.length, many + 1, 'those that were dropped are kept, so that they can be restored')
      const told = await store.openNeed('dropped facts agent')
      assert.deepEqual([told?.kind, told?.agent_id, told?.asked_at], ['limit', 'agent', iso(TEST_NOW)])
      const seen = { op: 'need_answer', id: told?.id ?? '', answer: { choice: 'seen', words: null } } as const
      await commitOne(store, [{ ...seen, now: TEST_NOW }])
      await commitOne(store, [rememberOp(newFact('again', 'again', 'again'))])
      assert.equal(await store.openNeed('dropped facts agent'), undefined, 'the owner is told once')
      const filter = { status: 'dropped', now: TEST_NOW } as const
      assert.equal(await store.countFacts(filter), many + 2 - MAX_FACTS)
      assert.equal((await store.facts({ ...filter, limit: 1, offset: many + 1 - MAX_FACTS }))[0]?.key, 'key 0')
      assert.deepEqual(
        { oldest: await recallKeys(store, '0'), newest: await recallKeys(store, `${many - 1}`) },
        { oldest: [], newest: [`key ${many - 1}`] },
      )
    },
  },
]
