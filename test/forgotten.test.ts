/** Limits that used to forget: versions of the owner, and facts of agents. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MAX_VERSIONS } from '../src/domain/document.ts'
import { MAX_FACTS } from '../src/domain/fact.ts'
import { iso } from '../src/ports/clock.ts'
import { commitOne, type Op } from '../src/ports/store.ts'
import { tireless, tirelessJson } from './support/command-line.ts'
import { freshFolder, openApp } from './support/open-app.ts'

describe('limits', () => {
  test('E10, I7: 500 edits by agents leave the owner’s version revertible; state log says what is kept', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home })
    const documents = app.service('documents')
    await documents.seed('STATE.md', '# State')
    await app.run('state edit', { text: 'what the owner wrote' })
    const last = MAX_VERSIONS + 12
    for (let i = 0; i < MAX_VERSIONS + 10; i += 1)
      await documents.write('STATE.md', () => `edit ${i}`, {
        author: i % 2 === 0 ? 'writer' : 'reader',
        reason: 'edit',
      })
    const log = await app.run('state log', { limit: 1 })
    assert.deepEqual(
      [log.total, log.items[0]?.version, log.yours_from, log.all_from],
      [MAX_VERSIONS + 2, last, 2, last - MAX_VERSIONS + 1],
    )
    await app.close()
    const said = await tireless(home, 'state', 'log', '--limit', '1')
    assert.match(said.stderr, /from 13 on is kept[\s\S]*Your oldest one is 2\./)
    const reverted = await tireless(home, 'state', 'revert', '2')
    assert.equal(reverted.exit, 0, reverted.stderr)
    assert.match((await tireless(home, 'state', 'show')).stdout, /what the owner wrote/)
  })

  test('E11: facts that are dropped for lack of room are told once, listed, and come back', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home })
    const { store } = app.context
    const rememberOp = (n: number): Op => ({
      op: 'remember',
      now: n,
      fact: {
        id: `f${n}`,
        agent_id: 'default',
        key: `key ${n}`,
        text: `number ${n}`,
        session_id: 's',
        turn: n,
        trust: 'untrusted',
        private: true,
        created_at: iso(n),
        expires_at: null,
      },
    })
    const add = (from: number, count: number) =>
      commitOne(
        store,
        Array.from({ length: count }, (_, i) => rememberOp(from + i)),
      )
    await add(0, MAX_FACTS)
    assert.deepEqual((await app.run('needs list', {})).items, [])
    await add(MAX_FACTS, 2)
    const [need, ...more] = (await app.run('needs list', {})).items
    assert.deepEqual([need?.kind, need?.agent_id, more.length], ['limit', 'default', 0])
    assert.match(need?.body ?? '', /memory restore KEY --agent default/)
    assert.ok((await app.run('status', {})).degraded.some((text) => text.includes('no longer recalled')))
    await app.run('needs answer', { id: need?.id ?? '', choice: 'seen' })
    await add(MAX_FACTS + 2, 1)
    assert.deepEqual((await app.run('needs list', {})).items, [], 'the owner is told once, not for each fact')
    await app.close()
    const listed = await tirelessJson<{ items: { key: string; text: string }[] }>(
      ...([home, 'memory', 'list', '--status', 'dropped'] as const),
    )
    assert.deepEqual(
      listed.items.map(({ key }) => key),
      ['key 2', 'key 1', 'key 0'],
    )
    const restored = await tirelessJson<{ exit: number; text: string; trust: string; dropped: string[] }>(
      ...([home, 'memory', 'restore', 'key 1'] as const),
    )
    assert.deepEqual([restored.text, restored.trust, restored.dropped], ['number 1', 'untrusted', ['key 3']])
    const found = await tirelessJson<{ items: { key: string }[] }>(home, 'memory', 'list', '--limit', '1')
    assert.equal(found.items[0]?.key, 'key 1')
    assert.equal((await tireless(home, 'memory', 'restore', 'key 1')).exit, 1)
    assert.equal((await tireless(home, 'memory', 'restore', 'key 1999')).exit, 1)
  })
})
