/** Documents with a real store and real files, also after a crash and without their folder. */

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import {
  createFixture,
  readState,
  renderTestBlock,
  writeAsAgent,
  writeCycle,
} from '../../../test/support/document-fixtures.ts'
import { MAX_DOCUMENT_BYTES } from '../../domain/document.ts'
import { TirelessError } from '../../domain/error.ts'
import { extractBlock, replaceBlock, textOutsideBlock } from '../../domain/runtime-block.ts'
import type { Store } from '../../ports/store.ts'
import { documentsConformance } from '../../testing/documents-conformance.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { type DocumentFiles, diskFiles } from './files.ts'

/** Removes the runtime block from the text; pasted copies of it stay. */
function withoutFirst(text: string, block: string, title: string): string {
  const at = title === 'a copy of ours before it' ? text.lastIndexOf(block) : text.indexOf(block)
  return at < 0 ? text : text.slice(0, at) + text.slice(at + block.length)
}

/** The number of empty lines around the block may differ. */
const collapseLines = (text: string): string => text.replaceAll(/\n+/g, '\n')

describe('documents', () => {
  for (const { name, run } of documentsConformance) test(name, async (t) => run((await createFixture(t)).documents))
})

describe('documents as files', () => {
  test('E2: the file equals the document and is private; a mode set by the owner is kept', async (t) => {
    const { documents, folder, state, file, clock } = await createFixture(t)
    const { text } = await documents.seed('STATE.md', '# seed\n')
    assert.equal(file(), text)
    assert.equal(fs.statSync(state).mode & 0o777, 0o600)
    fs.chmodSync(state, 0o644)
    await writeCycle(documents, 'c1')
    assert.equal(file(), replaceBlock(text, renderTestBlock('c1')))
    assert.equal(fs.statSync(state).mode & 0o777, 0o644)
    // The replaced file is kept for a minute, because an editor may still have it open.
    await clock.advance(61_000)
    await documents.read('STATE.md')
    assert.deepEqual(fs.readdirSync(folder), ['STATE.md'])
  })

  test('E2, E15: a file that a stopped process wrote is no edit, also if another home wrote since', async (t) => {
    const { documents: own, again, file, files, folder, clock, store } = await createFixture(t, { home: 'a' })
    await own.seed('STATE.md', '# seed\n')
    const other = again({ home: 'b', files: diskFiles(join(folder, '..', 'other'), clock) })
    // It stops after it has replaced the file, and before it has recorded that.
    const stopping: Store = {
      ...store,
      async commit(batches) {
        if (!batches.some(({ ops }) => ops.some(({ op }) => op === 'project'))) return store.commit(batches)
        throw new TirelessError('store_failed', 'the store is away')
      },
    }
    await assert.rejects(writeCycle(again({ home: 'a', files, store: stopping }), 'c1'), { code: 'store_failed' })
    assert.match(file(), /cycle_id: c1/)
    await writeCycle(other, 'c2')
    const restarted = again({ home: 'a' })
    const { text } = (await restarted.read('STATE.md')) ?? { text: '' }
    assert.equal(text, replaceBlock('# seed\n', renderTestBlock('c2')))
    assert.equal(file(), text)
    assert.ok((await restarted.versions('STATE.md', 10)).every(({ author }) => author !== 'owner'))
  })

  test('E2: an empty file is seeded; an existing text is kept', async (t) => {
    const empty = await createFixture(t)
    empty.edit('')
    assert.equal((await empty.documents.seed('STATE.md', '# seed\n')).text, '# seed\n')
    assert.equal(empty.file(), '# seed\n')
    const other = await createFixture(t)
    other.edit('\u{feff}# mine\r\n')
    assert.equal((await other.documents.seed('STATE.md', '# seed\n')).text, '\u{feff}# mine\r\n')
    assert.equal((await other.documents.read('STATE.md'))?.author, 'owner')
  })

  test('case 127, E2: one block after a hundred cycles; texts of owner and agent are unchanged', async (t) => {
    const { documents, edit, file } = await createFixture(t)
    await documents.seed('STATE.md', '# state\n## plan\n(none)\n')
    const unusual = '| a | b |\n<!-- KERNEL_RUNTIME:START -->\n### cycle_history\n<!-- KERNEL_RUNTIME:END -->\r\n'
    for (let n = 1; n <= 100; n += 1) {
      if (n === 10) edit((text) => unusual + text)
      if (n === 20) await writeAsAgent(documents, (text) => text.replace('(none)', 'ship it'))
      if (n === 30) edit((text) => `${text}behind the block`)
      await writeCycle(documents, `c${n}`)
    }
    const text = file()
    assert.equal(text.split('## kernel_runtime').length, 2)
    assert.ok(text.includes('- cycle_id: c100\n'))
    assert.equal(textOutsideBlock(text), `${unusual}# state\n## plan\nship it\n\nbehind the block`)
  })

  test('case 127, E2: a pasted block counts as text of the owner, wherever it is; our block stays ours', async (t) => {
    const pasted = renderTestBlock('pasted')
    const initial = `# mine\n\`\`\`\n${pasted}\n\`\`\`\nwords\n`
    const { documents, edit, file } = await createFixture(t)
    const readOutsideBlock = (): string => textOutsideBlock(file())
    edit(initial)
    for (const id of ['c1', 'c2']) await writeCycle(documents, id)
    assert.equal(readOutsideBlock(), initial, 'in a file from before the first cycle')
    assert.ok(file().includes('- cycle_id: c2\n') && !file().includes('c1'))
    const edits: [string, (text: string) => string][] = [
      ['behind ours', (text) => `${text}${pasted}\nthe end\n`],
      ['a copy of ours behind it', (text) => `${text}${extractBlock(text).block}\n`],
      ['a copy of ours before it', (text) => `${extractBlock(text).block}\n${text}`],
      ['between words', (text) => text.replace('words\n', `words\n${pasted}\nmore words\n`)],
      ['ours is gone', (text) => textOutsideBlock(text)],
    ]
    for (const [title, change] of edits) {
      const before = file()
      edit(change)
      // The file as the owner sees it, without the previous block.
      const expected = withoutFirst(file(), extractBlock(before).block ?? '', title)
      for (const id of ['c3', 'c4', `after ${title}`]) await writeCycle(documents, id)
      assert.equal(collapseLines(readOutsideBlock()), collapseLines(expected), title)
      assert.equal(file().split(`- cycle_id: after ${title}\n`).length, 2, title)
    }
  })

  test('E2: the new file is synced before it gets its name, and the name is synced at once', async (t) => {
    if (spawnSync('strace', ['-V']).status !== 0) return t.skip('strace is missing')
    const { folder } = await createFixture(t)
    const log = `${folder}.strace`
    const script = `import { diskFiles } from ${JSON.stringify(import.meta.resolve('./files.ts'))}
      await diskFiles(${JSON.stringify(folder)}, { now: () => 0 }).replace('STATE.md', 'text', { kind: 'absent' })`
    const node = [process.execPath, '--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script]
    fs.mkdirSync(folder, { recursive: true })
    // The compile cache renames files, too.
    const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' }
    execFileSync('strace', ['-f', '-y', '-o', log, '-e', 'trace=fsync,/^(rename|link)', ...node], { env })
    const calls = fs.readFileSync(log, 'utf8').matchAll(/(fsync|rename|link)\w*\(.*?([^/"<>]+)[">](?:, 0)?\)/g)
    assert.deepEqual(
      [...calls].map(([, call, path = '']) => `${call} ${path}`),
      ['fsync .STATE.md.tmp', 'link STATE.md', 'fsync default'],
    )
  })

  test('E2: a missing file is restored; an invalid one is set aside first, and this is reported', async (t) => {
    const { documents, edit, file, state, beside, told, clock } = await createFixture(t)
    const { text } = await documents.seed('STATE.md', '# state\n')
    fs.rmSync(state)
    await documents.read('STATE.md')
    assert.equal(file(), text)
    edit('')
    assert.equal(await readState(documents), text)
    assert.deepEqual({ file: file(), beside: beside('torn') }, { file: text, beside: [] })
    const damages: [string, () => void][] = [
      ['not UTF-8', () => fs.writeFileSync(state, Buffer.from([35, 0xc3, 0x28]))],
      ['NUL', () => edit('# st\0\0\0')],
      ['1 MB', () => edit('x'.repeat(MAX_DOCUMENT_BYTES + 1))],
      ['regular', () => fs.symlinkSync('/etc/passwd', state)],
      ['regular', () => fs.mkdirSync(state)],
    ]
    for (const [why, damage] of damages) {
      fs.rmSync(state, { recursive: true })
      damage()
      await clock.advance(1000)
      assert.equal(await readState(documents), text, why)
      assert.equal(file(), text)
      assert.match(told.at(-1)?.message ?? '', new RegExp(`${why}.*STATE\\.md\\.torn-`))
    }
    assert.equal(beside('torn').length, damages.length)
    assert.equal((await documents.versions('STATE.md', 10)).length, 1)
  })

  test('E2: after a kill between version and file, an edit still applies to the old file', async (t) => {
    const { documents, again, edit, file, files } = await createFixture(t)
    await documents.seed('STATE.md', '# it\na\nb\n')
    const failing = again({ files: { ...files, replace: () => Promise.reject(new Error('killed')) } })
    await writeAsAgent(failing, (text) => text.replace('a', 'A'))
    assert.equal(file(), '# it\na\nb\n')
    edit((text) => text.replace('b', 'B'))
    assert.equal(await readState(again()), '# it\nA\nB\n')
    assert.equal(file(), '# it\nA\nB\n')
  })

  test('E2: after a kill between file and its note, no edit is detected', async (t) => {
    for (const guarded of [false, true]) {
      const { documents, again, file, files } = await createFixture(t, { needsAcceptance: () => guarded })
      await documents.seed('STATE.md', '# it\na\n')
      const replace: DocumentFiles['replace'] = async (...args) => {
        await files.replace(...args)
        throw new Error('killed')
      }
      await writeAsAgent(again({ files: { ...files, replace } }), (text) => text.replace('a', 'A'))
      assert.equal(file(), '# it\nA\n')
      const restarted = again()
      assert.equal(await restarted.pending('STATE.md'), undefined)
      await writeAsAgent(restarted, (text) => text.replace('A', 'AA'))
      assert.equal(file(), '# it\nAA\n')
      assert.equal((await restarted.versions('STATE.md', 9)).length, 3)
    }
  })

  test('E2: restoring an older text by hand is an edit like any other', async (t) => {
    const { documents, edit, file } = await createFixture(t)
    await documents.seed('STATE.md', 'old\n')
    await writeAsAgent(documents, () => 'new\n')
    edit('old\n')
    assert.equal(await readState(documents), 'old\n')
    assert.equal(file(), 'old\n')
  })
})

describe('documents without their folder', () => {
  test('E11: while the folder is unusable, store and fallback folder are used; later it recovers', async (t) => {
    const { documents, again, folder, file, told } = await createFixture(t)
    await documents.seed('STATE.md', '# state\n')
    fs.renameSync(folder, `${folder}.away`)
    fs.writeFileSync(folder, 'in the way')
    await writeCycle(documents, 'c1')
    const { text } = await writeAsAgent(documents, (now) => now.replace('# state', '# state of things'))
    const fallback = join(folder, '../../fallback/STATE.md')
    assert.equal(fs.readFileSync(fallback, 'utf8'), text)
    assert.match(
      documents.degraded() ?? '',
      /kernels\/default\/STATE\.md cannot be used .*ENOTDIR.*fallback\/STATE\.md$/,
    )
    assert.match(
      again().degraded() ?? '',
      /kernels\/default could not be written; the current STATE\.md/,
      'in a later process',
    )
    fs.rmSync(folder)
    fs.renameSync(`${folder}.away`, folder)
    fs.appendFileSync(join(folder, 'STATE.md'), 'edited meanwhile\n')
    await writeCycle(documents, 'c2')
    assert.equal(textOutsideBlock(file()), '# state of things\nedited meanwhile\n')
    assert.equal(documents.degraded(), null)
    assert.equal(fs.existsSync(fallback), false)
    assert.deepEqual(
      told.map(({ event }) => event),
      ['degraded', 'recovered'],
    )
  })

  test('E11: with a full disk nothing is thrown, nothing partial is left and nothing is lost', async (t) => {
    const { again, files, file, folder } = await createFixture(t)
    const noSpace = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
    let isFull = false
    const limited = (inner: DocumentFiles): DocumentFiles => ({
      ...inner,
      replace: (...args) => (isFull ? Promise.reject(noSpace) : inner.replace(...args)),
      saveCopy: (...args) => (isFull ? Promise.reject(noSpace) : inner.saveCopy(...args)),
    })
    const fallback = diskFiles(join(folder, '../../fallback'), new FakeClock())
    const documents = again({ files: limited(files), fallback: limited(fallback) })
    await documents.seed('STATE.md', '# state\n(none)\n')
    isFull = true
    await writeCycle(documents, 'c1')
    assert.match(documents.degraded() ?? '', /ENOSPC.*only in the store$/)
    // A conflicting edit that cannot be saved as a copy is not overwritten.
    await writeAsAgent(documents, (text) => text.replace('(none)', 'by the agent'))
    fs.writeFileSync(join(folder, 'STATE.md'), '# state\nby the owner\n')
    await writeCycle(documents, 'c2')
    assert.equal(file(), '# state\nby the owner\n')
    isFull = false
    const { text } = await writeCycle(documents, 'c3')
    assert.equal(file(), text)
    assert.equal(textOutsideBlock(text), '# state\nby the agent\n')
    assert.equal(fs.readdirSync(folder).filter((name) => name.includes('conflict')).length, 1)
    assert.equal(documents.degraded(), null)
  })

  test('E11: a store failure is thrown', async (t) => {
    const { again } = await createFixture(t)
    const broken = () => Promise.reject(new TirelessError('store_failed', 'the disk is gone'))
    const store = { document: broken, projection: broken, commit: broken } as never
    await assert.rejects(again({ store }).read('STATE.md'), { code: 'store_failed' })
  })
})
