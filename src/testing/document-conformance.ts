/** What every store must show of documents; part of the store's conformance suite. */

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { MOST_VERSION_BYTES, MOST_VERSIONS } from '../domain/document.ts'
import { iso } from '../ports/clock.ts'
import { commitOne, type Op, type Store } from '../ports/store.ts'

const NOW = 1_000_000

type NewVersion = Extract<Op, { op: 'document' }>

const version = (text: string, base: string | null, more: Partial<NewVersion> = {}): NewVersion => ({
  op: 'document',
  kernel_id: 'kernel',
  name: 'STATE.md',
  base: base === null ? null : hash('sha256', base),
  text,
  author: 'owner',
  reason: 'because',
  cycle_id: null,
  now: NOW,
  ...more,
})

/** Each on the one before it. */
async function write(store: Store, texts: readonly string[], more: Partial<NewVersion> = {}): Promise<void> {
  let base = (await store.document('kernel', 'STATE.md'))?.text ?? null
  const ops = texts.map((text) => {
    const op = version(text, base, more)
    base = text
    return op
  })
  await commitOne(store, ops)
}

const kept = async (store: Store): Promise<number[]> =>
  (await store.documentVersions({ kernel_id: 'kernel', name: 'STATE.md', limit: 10_000 })).map((one) => one.version)

export const documentConformance: readonly { readonly name: string; run(store: Store): Promise<void> }[] = [
  {
    name: 'E2: a document comes back as it was written, byte for byte, with who wrote it and why',
    async run(store) {
      assert.equal(await store.document('kernel', 'STATE.md'), undefined)
      const text = '\u{feff}# 状态\r\n| a \\| b |\n<!-- KERNEL_RUNTIME:START -->\n👩‍🚀 no line break at the end'
      const [made] = await commitOne(store, [version(text, null, { author: 'agent', cycle_id: 'c1' })])
      const expected = {
        ...{ kernel_id: 'kernel', name: 'STATE.md', version: 1, sha256: hash('sha256', text) },
        ...{ bytes: Buffer.byteLength(text), author: 'agent', reason: 'because', cycle_id: 'c1', ts: iso(NOW) },
      }
      assert.deepEqual(made, { ...expected, changed: true })
      assert.deepEqual(await store.document('kernel', 'STATE.md'), { ...expected, text })
      assert.deepEqual(await store.documentVersions({ kernel_id: 'kernel', name: 'STATE.md', limit: 5 }), [expected])
      assert.equal(await store.document('kernel', 'GOAL.md'), undefined)
      assert.equal(await store.document('other', 'STATE.md'), undefined)
    },
  },
  {
    name: 'I7: a version follows the latest, or there is a conflict and nothing of its batch is written',
    async run(store) {
      await write(store, ['one', 'two'])
      for (const stale of [version('three', 'one'), version('three', null), version('one', 'one')])
        await assert.rejects(commitOne(store, [stale]), { code: 'conflict', message: /its version is 2 by now/ })
      await assert.rejects(commitOne(store, [version('x', 'two', { name: 'GOAL.md' })]), { code: 'conflict' })
      await assert.rejects(commitOne(store, [version('three', 'two'), version('four', 'two')]), { code: 'conflict' })
      assert.deepEqual(await kept(store), [2, 1])
      assert.equal((await store.documentVersion('kernel', 'STATE.md', 1))?.text, 'one')
      assert.equal(await store.documentVersion('kernel', 'STATE.md', 3), undefined)
    },
  },
  {
    name: 'E2: the same text again makes no version; an earlier one does',
    async run(store) {
      await write(store, ['one'])
      const [same] = await commitOne(store, [version('one', 'one', { author: 'agent', now: NOW + 1 })])
      assert.deepEqual([same.changed, same.version, same.author, same.ts], [false, 1, 'owner', iso(NOW)])
      await write(store, ['two', 'one'])
      assert.deepEqual(await kept(store), [3, 2, 1])
    },
  },
  {
    name: 'case 142: so many versions are kept of what the system wrote, and as many of what others did; the numbers go on',
    async run(store) {
      await write(store, ['a word of the owner'])
      const beats = (from: number): string[] => Array.from({ length: MOST_VERSIONS }, (_, i) => `beat ${from + i}`)
      await write(store, beats(0), { author: 'system' })
      await write(store, ['a word of an agent'], { author: 'agent' })
      await write(store, beats(MOST_VERSIONS), { author: 'system' })
      const versions = await kept(store)
      assert.equal(versions.length, MOST_VERSIONS + 2)
      assert.equal(versions[0], 2 * MOST_VERSIONS + 2)
      assert.deepEqual(versions.slice(-2), [MOST_VERSIONS + 2, 1])
      assert.equal((await store.documentVersion('kernel', 'STATE.md', 1))?.text, 'a word of the owner')
    },
  },
  {
    name: 'case 142: long versions are fewer; one that is too long by itself is kept as long as it is the latest',
    async run(store) {
      const long = (letter: string): string => letter.repeat(MOST_VERSION_BYTES / 2)
      await write(store, [long('a'), long('b')])
      assert.deepEqual(await kept(store), [2, 1])
      await write(store, ['short'])
      assert.deepEqual(await kept(store), [3, 2])
      await write(store, [`${long('c')}${long('d')}.`])
      assert.deepEqual(await kept(store), [4])
      await write(store, ['short again'])
      assert.deepEqual(await kept(store), [5])
    },
  },
  {
    name: 'E2: what a file is known to be is one row per document, whatever becomes of the versions',
    async run(store) {
      assert.equal(await store.projection('kernel', 'STATE.md'), undefined)
      const project = (text: string): Op => ({ op: 'project', kernel_id: 'kernel', name: 'STATE.md', text })
      await commitOne(store, [version('one', null), project('one')])
      await commitOne(store, [project('two\r\n')])
      assert.equal(await store.projection('kernel', 'STATE.md'), 'two\r\n')
      assert.equal(await store.projection('kernel', 'GOAL.md'), undefined)
      assert.equal((await store.document('kernel', 'STATE.md'))?.text, 'one')
    },
  },
]
