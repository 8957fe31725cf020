import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Op } from '../../../ports/store.ts'
import { quietly } from './quiet.ts'

/** A store with nothing in its inboxes that counts how often it is asked. */
function asked(most?: number) {
  const sessions: string[] = []
  const inbox = async (id: string) => {
    sessions.push(id)
    return []
  }
  return { sessions, ...quietly({ inbox, commit: async () => [] }, most) }
}

const says: Op = { op: 'promote', now: 0 }

test('a quiet session is asked once, and again when somebody has said something', async () => {
  const { sessions, inbox, commit } = asked()
  for (const id of ['a', 'a', 'b', 'a']) assert.deepEqual(await inbox(id), [])
  assert.deepEqual(sessions, ['a', 'b'])
  await commit([{ ops: [says] }])
  await inbox('a')
  assert.deepEqual(sessions, ['a', 'b', 'a'])
})

test('what was said while it looked is not missed the next time', async () => {
  const looking = Promise.withResolvers<readonly []>()
  let looks = 0
  const inbox = async () => {
    looks += 1
    return looks === 1 ? looking.promise : []
  }
  const store = quietly({ inbox, commit: async () => [] })
  const first = store.inbox('a')
  await store.commit([{ ops: [says] }])
  looking.resolve([])
  await first
  await store.inbox('a')
  assert.equal(looks, 2)
})

test('K3: only so many quiet sessions are remembered', async () => {
  const { sessions, inbox } = asked(100)
  const many = Array.from({ length: 101 }, (_, i) => `s${i}`)
  for (const id of many) await inbox(id)
  await inbox('s100')
  assert.equal(sessions.length, 101)
  await inbox('s0')
  assert.equal(sessions.at(-1), 's0')
  assert.equal(sessions.length, 102)
})
