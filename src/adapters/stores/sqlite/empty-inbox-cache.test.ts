import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Op } from '../../../ports/store.ts'
import { cacheEmptyInboxes } from './empty-inbox-cache.ts'

/** A store with empty inboxes that records its queries. */
function createCounting(most?: number) {
  const sessions: string[] = []
  const inbox = async (id: string) => {
    sessions.push(id)
    return []
  }
  return { sessions, ...cacheEmptyInboxes({ inbox, commit: async () => [] }, most) }
}

const message: Op = { op: 'promote', now: 0 }

test('an empty inbox is queried once, and again after a message', async () => {
  const { sessions, inbox, commit } = createCounting()
  for (const id of ['a', 'a', 'b', 'a']) assert.deepEqual(await inbox(id), [])
  assert.deepEqual(sessions, ['a', 'b'])
  await commit([{ ops: [message] }])
  await inbox('a')
  assert.deepEqual(sessions, ['a', 'b', 'a'])
})

test('a message during the query is found by the next one', async () => {
  const firstQuery = Promise.withResolvers<readonly []>()
  let queries = 0
  const inbox = async () => {
    queries += 1
    return queries === 1 ? firstQuery.promise : []
  }
  const store = cacheEmptyInboxes({ inbox, commit: async () => [] })
  const first = store.inbox('a')
  await store.commit([{ ops: [message] }])
  firstQuery.resolve([])
  await first
  await store.inbox('a')
  assert.equal(queries, 2)
})

test('K3: the number of remembered sessions is limited', async () => {
  const { sessions, inbox } = createCounting(100)
  const many = Array.from({ length: 101 }, (_, i) => `s${i}`)
  for (const id of many) await inbox(id)
  await inbox('s100')
  assert.equal(sessions.length, 101)
  await inbox('s0')
  assert.equal(sessions.at(-1), 's0')
  assert.equal(sessions.length, 102)
})
