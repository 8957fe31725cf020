/**
 * The conformance suite of the documents port. Each case gets the documents of a new kernel that needs no acceptance of
 * edits and treats `hunter2-hunter2` as a secret.
 */

import assert from 'node:assert/strict'
import { MAX_DOCUMENT_BYTES } from '../domain/document.ts'
import { renderRuntimeBlock, replaceBlock, textOutsideBlock } from '../domain/runtime-block.ts'
import type { Attribution, Documents } from '../ports/documents.ts'

const SYSTEM: Attribution = { author: 'system', reason: 'cycle', cycle_id: 'c1' }
const AGENT: Attribution = { author: 'agent', reason: 'edit_state s.1.0' }

const renderTestBlock = (cycle_id: string): string => {
  const counts = { dispatched: 0, succeeded: 0, failed: 0, duration_ms: 1 }
  const outcome = { updated_at: 'now', status: 'success', failed_agents: [], agent_summary: '', error: null }
  return renderRuntimeBlock({ ...counts, ...outcome, cycle_id }, [], 5)
}

export interface DocumentsCase {
  readonly name: string
  run(documents: Documents): Promise<void>
}

export const documentsConformance: readonly DocumentsCase[] = [
  {
    name: 'E2: a document is seeded only if it is missing or blank',
    async run(documents) {
      assert.equal(await documents.read('STATE.md'), undefined)
      const seeded = await documents.seed('STATE.md', '# seed\n')
      assert.deepEqual(
        { text: seeded.text, version: seeded.version, author: seeded.author },
        { text: '# seed\n', version: 1, author: 'system' },
      )
      await documents.write('STATE.md', (text) => `${text}more\n`, AGENT)
      assert.equal((await documents.seed('STATE.md', '# other\n')).text, '# seed\nmore\n')
      await documents.write('STATE.md', () => ' \n', AGENT)
      assert.equal((await documents.seed('STATE.md', '# seed\n')).text, '# seed\n')
      assert.equal(await documents.read('GOAL.md'), undefined)
    },
  },
  {
    name: 'E2: a change makes a version with author, reason and cycle; no change makes none',
    async run(documents) {
      await documents.seed('STATE.md', 'one\n')
      const made = await documents.write('STATE.md', () => 'two\n', SYSTEM)
      assert.deepEqual(
        { version: made.version, author: made.author, reason: made.reason, cycle_id: made.cycle_id },
        { version: 2, author: 'system', reason: 'cycle', cycle_id: 'c1' },
      )
      assert.equal((await documents.write('STATE.md', (text) => text, AGENT)).version, 2)
      assert.deepEqual(
        (await documents.versions('STATE.md', 10)).map(({ version }) => version),
        [2, 1],
      )
      assert.equal((await documents.version('STATE.md', 1))?.text, 'one\n')
      assert.equal(await documents.version('STATE.md', 3), undefined)
    },
  },
  {
    name: 'I7: concurrent writes lose nothing',
    async run(documents) {
      await documents.seed('STATE.md', '# state\n')
      const all = Array.from({ length: 10 }, (_, i) => i)
      await Promise.all(all.map((i) => documents.write('STATE.md', (text) => `${text}- ${i}\n`, AGENT)))
      const { text = '' } = (await documents.read('STATE.md')) ?? {}
      assert.deepEqual(text.split('\n').toSorted(), ['', '# state', ...all.map((i) => `- ${i}`)].toSorted())
    },
  },
  {
    name: 'case 136: secrets are removed from additions by system and agents; existing text stays',
    async run(documents) {
      await documents.write('STATE.md', () => 'mine: hunter2-hunter2\n', { author: 'owner', reason: 'mine' })
      const { text } = await documents.write('STATE.md', (now) => `${now}the key is hunter2-hunter2!\n`, AGENT)
      assert.equal(text, 'mine: hunter2-hunter2\nthe key is (secret)!\n')
      await documents.seed('INIT.md', '- key: hunter2-hunter2\n')
      assert.equal((await documents.read('INIT.md'))?.text, '- key: (secret)\n')
    },
  },
  {
    name: 'E2: revert restores an earlier text and keeps the runtime block; an unknown version is refused',
    async run(documents) {
      await documents.seed('STATE.md', '# good\n')
      await documents.write('STATE.md', (text) => replaceBlock(text, renderTestBlock('c1')), SYSTEM)
      await documents.write('STATE.md', (text) => text.replace('good', 'bad'), AGENT)
      await documents.write('STATE.md', (text) => replaceBlock(text, renderTestBlock('c2')), SYSTEM)
      const reverted = await documents.revert('STATE.md', 1)
      assert.deepEqual(
        { version: reverted.version, author: reverted.author, reason: reverted.reason },
        { version: 5, author: 'owner', reason: 'back to version 1' },
      )
      assert.equal(textOutsideBlock(reverted.text), '# good\n')
      assert.ok(reverted.text.includes('- cycle_id: c2\n'))
      assert.equal((await documents.revert('STATE.md', 2)).text, reverted.text)
      await assert.rejects(documents.revert('STATE.md', 99), { code: 'not_found', message: /state log/ })
      await assert.rejects(documents.revert('GOAL.md', 1), { code: 'not_found' })
    },
  },
  {
    name: 'E2: invalid or too long text is refused, and nothing changes',
    async run(documents) {
      await documents.seed('STATE.md', 'good\n')
      for (const bad of ['a\0b', 'a\ud83d', 'x'.repeat(MAX_DOCUMENT_BYTES + 1)])
        await assert.rejects(
          documents.write('STATE.md', () => bad, AGENT),
          { code: 'document_refused', message: /^STATE\.md: .*got .*expected / },
        )
      assert.equal((await documents.read('STATE.md'))?.text, 'good\n')
      const most = 'x'.repeat(MAX_DOCUMENT_BYTES)
      assert.equal((await documents.write('STATE.md', () => most, AGENT)).text, most)
    },
  },
  {
    name: 'I7: without a conflict there is no saved copy, and no other file counts as one',
    async run(documents) {
      await documents.seed('STATE.md', 'one\n')
      assert.deepEqual(await documents.copies('STATE.md'), [])
      for (const file of ['STATE.md', '../STATE.md', 'STATE.md.conflict-']) {
        assert.equal(await documents.copy('STATE.md', file), undefined)
        assert.equal(await documents.removeCopy('STATE.md', file), false)
      }
      assert.equal((await documents.read('STATE.md'))?.text, 'one\n')
    },
  },
  {
    name: 'E2: without an edit nothing is pending',
    async run(documents) {
      await documents.seed('STATE.md', 'good\n')
      assert.equal(await documents.pending('STATE.md'), undefined)
      assert.equal(await documents.accept('STATE.md'), 'none')
      assert.equal(documents.degraded(), null)
    },
  },
]
