/** Store conformance: documents. */

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { MAX_VERSION_BYTES, MAX_VERSIONS } from '../domain/document.ts'
import { iso } from '../ports/clock.ts'
import { commitOne, type Op, type Store } from '../ports/store.ts'

const NOW = 1_000_000

type NewVersion = Extract<Op, { op: 'document' }>

const versionOp = (text: string, base: string | null, more: Partial<NewVersion> = {}): NewVersion => ({
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

/** Writes the texts one after the other. */
async function write(store: Store, texts: readonly string[], more: Partial<NewVersion> = {}): Promise<void> {
  let base = (await store.document('kernel', 'STATE.md'))?.text ?? null
  const ops = texts.map((text) => {
    const op = versionOp(text, base, more)
    base = text
    return op
  })
  await commitOne(store, ops)
}

const listVersions = async (store: Store): Promise<number[]> =>
  (await store.documentVersions({ kernel_id: 'kernel', name: 'STATE.md', limit: 10_000 })).map((one) => one.version)

export const documentConformance: readonly { readonly name: string; run(store: Store): Promise<void> }[] = [
  {
    name: 'E2: a document is returned byte for byte, with author and reason',
    async run(store) {
      assert.equal(await store.document('kernel', 'STATE.md'), undefined)
      const text = '\u{feff}# 状态\r\n| a \\| b |\n<!-- KERNEL_RUNTIME:START -->\n👩‍🚀 no line break at the end'
      const [made] = await commitOne(store, [versionOp(text, null, { author: 'agent', cycle_id: 'c1' })])
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
    name: 'I7: a version must follow the latest; otherwise its batch is refused as a conflict',
    async run(store) {
      await write(store, ['one', 'two'])
      for (const stale of [versionOp('three', 'one'), versionOp('three', null), versionOp('one', 'one')])
        await assert.rejects(commitOne(store, [stale]), { code: 'conflict', message: /its version is now 2/ })
      await assert.rejects(commitOne(store, [versionOp('x', 'two', { name: 'GOAL.md' })]), { code: 'conflict' })
      await assert.rejects(commitOne(store, [versionOp('three', 'two'), versionOp('four', 'two')]), {
        code: 'conflict',
      })
      assert.deepEqual(await listVersions(store), [2, 1])
      assert.equal((await store.documentVersion('kernel', 'STATE.md', 1))?.text, 'one')
      assert.equal(await store.documentVersion('kernel', 'STATE.md', 3), undefined)
    },
  },
  {
    name: 'E2: an unchanged text makes no version; an earlier text does',
    async run(store) {
      await write(store, ['one'])
      const [same] = await commitOne(store, [versionOp('one', 'one', { author: 'agent', now: NOW + 1 })])
      assert.deepEqual(
        { changed: same.changed, version: same.version, author: same.author, ts: same.ts },
        { changed: false, version: 1, author: 'owner', ts: iso(NOW) },
      )
      await write(store, ['two', 'one'])
      assert.deepEqual(await listVersions(store), [3, 2, 1])
    },
  },
  {
    name: 'E10, case 142: the number of kept versions is limited, apart for the system, the owner and agents',
    async run(store) {
      await write(store, ['text of the owner'])
      const beats = (from: number): string[] => Array.from({ length: MAX_VERSIONS }, (_, i) => `beat ${from + i}`)
      await write(store, beats(0), { author: 'system' })
      await write(store, ['text of an agent'], { author: 'agent' })
      await write(store, beats(MAX_VERSIONS), { author: 'system' })
      const versions = await listVersions(store)
      assert.equal(versions.length, MAX_VERSIONS + 2)
      assert.equal(versions[0], 2 * MAX_VERSIONS + 2)
      assert.deepEqual(versions.slice(-2), [MAX_VERSIONS + 2, 1])
      assert.equal((await store.documentVersion('kernel', 'STATE.md', 1))?.text, 'text of the owner')
    },
  },
  {
    name: 'E10: agents push out neither by number nor by size what the owner wrote; his oldest goes for his newest',
    async run(store) {
      await write(store, ['draft of the system'], { author: 'system' })
      await write(store, ['text of the owner'])
      const edits = Array.from({ length: 2 * MAX_VERSIONS }, (_, i) => `edit ${i}`)
      await write(store, edits.slice(0, MAX_VERSIONS), { author: 'writer' })
      await write(store, edits.slice(MAX_VERSIONS), { author: 'reader' })
      for (const letter of ['a', 'b', 'c']) await write(store, [letter.repeat(MAX_VERSION_BYTES / 2)], { author: 'x' })
      assert.equal((await store.documentVersion('kernel', 'STATE.md', 2))?.text, 'text of the owner')
      assert.equal((await store.documentVersion('kernel', 'STATE.md', 1))?.text, 'draft of the system')
      assert.equal((await listVersions(store)).length, 4, 'of the agents, what fits')
      await write(
        store,
        Array.from({ length: MAX_VERSIONS }, (_, i) => `of the owner ${i}`),
      )
      const kept = await listVersions(store)
      assert.deepEqual([kept.includes(2), kept.length], [false, MAX_VERSIONS + 3])
    },
  },
  {
    name: 'case 142: the total size of versions is limited; the latest is always kept',
    async run(store) {
      const long = (letter: string): string => letter.repeat(MAX_VERSION_BYTES / 2)
      await write(store, [long('a'), long('b')])
      assert.deepEqual(await listVersions(store), [2, 1])
      await write(store, ['short'])
      assert.deepEqual(await listVersions(store), [3, 2])
      await write(store, [`${long('c')}${long('d')}.`])
      assert.deepEqual(await listVersions(store), [4])
      await write(store, ['short again'])
      assert.deepEqual(await listVersions(store), [5])
    },
  },
  {
    name: 'E2: the recorded file content is one row per document, independent of its versions',
    async run(store) {
      assert.equal(await store.projection('kernel', 'STATE.md'), undefined)
      const project = (text: string): Op => ({ op: 'project', kernel_id: 'kernel', name: 'STATE.md', text })
      await commitOne(store, [versionOp('one', null), project('one')])
      await commitOne(store, [project('two\r\n')])
      assert.equal(await store.projection('kernel', 'STATE.md'), 'two\r\n')
      assert.equal(await store.projection('kernel', 'GOAL.md'), undefined)
      assert.equal((await store.document('kernel', 'STATE.md'))?.text, 'one')
    },
  },
]
