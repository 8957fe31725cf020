/** What every store must show of facts; part of the store's conformance suite. */

import assert from 'node:assert/strict'
import { type Fact, MOST_FACTS, MOST_OVER, type NewFact } from '../domain/fact.ts'
import { iso } from '../ports/clock.ts'
import { commitOne, type Op, type Store } from '../ports/store.ts'
import { type ConformanceCase, NOW } from './store-cases.ts'

const factOf = (id: string, key: string, text: string, more: Partial<NewFact> = {}): NewFact => ({
  id,
  key,
  text,
  agent_id: 'agent',
  session_id: 'session',
  turn: 3,
  trust: 'untrusted',
  private: true,
  created_at: iso(NOW),
  expires_at: null,
  ...more,
})

const remember = (fact: NewFact, now = NOW): Op & { op: 'remember' } => ({ op: 'remember', fact, now })

const forget = (key: string, before = NOW, agent_id = 'agent'): Op & { op: 'forget' } => ({
  op: 'forget',
  agent_id,
  key,
  before,
})

const recalled = async (store: Store, text: string, now = NOW, agent_id = 'agent'): Promise<string[]> =>
  (await store.recallFacts({ agent_id, text, now, limit: 10 })).map(({ key }) => key)

const listed = async (store: Store, over: boolean, now = NOW): Promise<readonly Fact[]> =>
  store.facts({ over, now, limit: 100_000 })

const statuses = async (store: Store): Promise<string[]> =>
  (await listed(store, true)).map(({ id, status }) => `${id} ${status}`)

export const factConformance: readonly ConformanceCase[] = [
  {
    name: 'O14: a fact comes back with its words, its origin and its labels',
    async run(store) {
      const fact = factOf('s.3.0', 'deploy', 'The deploy key lives in the vault', { expires_at: iso(NOW + 5) })
      const [done] = await commitOne(store, [remember(fact)])
      assert.deepEqual(done, { superseded: false, dropped: [] })
      assert.deepEqual(await listed(store, false), [{ ...fact, status: 'known' }])
      assert.deepEqual(await store.recallFacts({ text: 'VAULT?', now: NOW, limit: 1 }), [{ ...fact, status: 'known' }])
    },
  },
  {
    name: 'O14: the same key supersedes, which stays visible; the same call writes once, whatever became of it since',
    async run(store) {
      await commitOne(store, [remember(factOf('a', 'tea', 'green tea'))])
      const [second] = await commitOne(store, [remember(factOf('b', 'tea', 'black coffee'))])
      assert.equal(second.superseded, true)
      assert.deepEqual(await commitOne(store, [remember(factOf('a', 'tea', 'green tea'))]), [
        { superseded: false, dropped: [] },
      ])
      assert.deepEqual(await statuses(store), ['b known', 'a superseded'])
      assert.deepEqual([await recalled(store, 'green'), await recalled(store, 'coffee')], [[], ['tea']])
      assert.deepEqual(
        (await listed(store, false)).map(({ text }) => text),
        ['black coffee'],
      )
    },
  },
  {
    name: 'O14: forgetting takes the words for good, also of what was superseded; a late call does not bring it back',
    async run(store) {
      await commitOne(store, [remember(factOf('a', 'tea', 'green tea')), remember(factOf('b', 'tea', 'black tea'))])
      await commitOne(store, [remember(factOf('c', 'milk', 'oat milk'))])
      assert.deepEqual(await commitOne(store, [forget('tea')]), [{ forgotten: true }])
      assert.deepEqual(await commitOne(store, [forget('tea')]), [{ forgotten: false }])
      await commitOne(store, [remember(factOf('b', 'tea', 'black tea'))])
      assert.deepEqual(await statuses(store), ['c known', 'b forgotten', 'a forgotten'])
      assert.equal(JSON.stringify(await listed(store, true)).includes(' tea'), false)
      assert.deepEqual([await recalled(store, 'tea'), await recalled(store, 'milk')], [[], ['milk']])
    },
  },
  {
    name: 'O14: what was written after a forgetting was intended is not touched by it; nor is what another agent knows',
    async run(store) {
      await commitOne(store, [remember(factOf('a', 'tea', 'green tea', { created_at: iso(NOW + 1) }))])
      await commitOne(store, [remember(factOf('b', 'tea', 'red tea', { agent_id: 'other' }))])
      assert.deepEqual(await commitOne(store, [forget('tea')]), [{ forgotten: false }])
      assert.deepEqual([await recalled(store, 'tea'), await recalled(store, 'tea', NOW, 'other')], [['tea'], ['tea']])
      await commitOne(store, [forget('tea', NOW + 1)])
      assert.deepEqual([await recalled(store, 'tea'), await recalled(store, 'tea', NOW, 'other')], [[], ['tea']])
    },
  },
  {
    name: 'K3: what has expired is not known any more, from that instant on',
    async run(store) {
      await commitOne(store, [remember(factOf('a', 'offer', 'cheap tea', { expires_at: iso(NOW + 10) }))])
      assert.deepEqual(await recalled(store, 'tea', NOW + 9), ['offer'])
      assert.deepEqual(await recalled(store, 'tea', NOW + 10), [])
      assert.equal((await listed(store, false, NOW + 9)).length, 1)
      assert.equal((await listed(store, false, NOW + 10)).length, 0)
      await commitOne(store, [remember(factOf('b', 'other', 'coffee'), NOW + 10)])
      assert.deepEqual(await statuses(store), ['b known', 'a expired'])
    },
  },
  {
    name: 'O14: found by words of any script, one character, another form of the word; a question of signs finds nothing',
    async run(store) {
      const texts = {
        zh: '生产服务器在上海，养了一只猫',
        ja: 'パスワードは金庫の中',
        ko: '서버는 서울에 있다',
        en: 'Deployments use «foo_bar»',
      }
      await commitOne(
        store,
        Object.entries(texts).map(([key, text]) => remember(factOf(key, key, text))),
      )
      for (const [asked, key] of [
        ['服务器在哪里？', 'zh'],
        ['猫', 'zh'],
        ['金庫', 'ja'],
        ['서울', 'ko'],
        ['deployment', 'en'],
        ['foo_bar', 'en'],
        ['"foo" OR (bar*', 'en'],
      ])
        assert.deepEqual(await recalled(store, asked ?? ''), [key], asked)
      assert.deepEqual(await recalled(store, '"*() -?'), [])
      assert.deepEqual(await recalled(store, ''), [])
    },
  },
  {
    name: 'K3: nothing grows without bound: the oldest facts make room and are named, and of what is over only so many stay',
    async run(store) {
      const many = MOST_FACTS + MOST_OVER + 100
      for (let i = 0; i < many; i += 100)
        await commitOne(
          store,
          Array.from({ length: 100 }, (_, n) => remember(factOf(`f${i + n}`, `key ${i + n}`, `number ${i + n}`))),
        )
      const [{ dropped }] = await commitOne(store, [remember(factOf('last', 'last', 'the last'))])
      assert.deepEqual(dropped, [`key ${many - MOST_FACTS}`])
      const all = await listed(store, true)
      assert.equal(all.filter(({ status }) => status === 'known').length, MOST_FACTS)
      assert.equal(all.length, MOST_FACTS + MOST_OVER)
      assert.deepEqual([await recalled(store, '0'), await recalled(store, `${many - 1}`)], [[], [`key ${many - 1}`]])
    },
  },
]
