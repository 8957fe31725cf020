/** Documents with a real store and real files, edited at every moment. */

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { MAX_DOCUMENT_BYTES } from '../../domain/document.ts'
import { TirelessError } from '../../domain/error.ts'
import { extractBlock, renderRuntimeBlock, replaceBlock, textOutsideBlock } from '../../domain/runtime-block.ts'
import type { Documents } from '../../ports/documents.ts'
import { documentsConformance } from '../../testing/documents-conformance.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { openSqliteStore } from '../stores/sqlite/store.ts'
import { createDocuments, type DocumentsOptions } from './documents.ts'
import { type DocumentFiles, diskFiles } from './files.ts'

interface Fixture {
  readonly documents: Documents
  readonly told: { readonly event: string; readonly message: string }[]
  readonly folder: string
  readonly state: string
  readonly clock: FakeClock
  readonly files: DocumentFiles
  /** Creates another instance on the same home, as after a restart. */
  again(more?: Partial<DocumentsOptions>): Documents
  edit(text: string | ((text: string) => string)): void
  file(): string
  beside(kind: string): string[]
}

async function createFixture(t: TestContext, more: Partial<DocumentsOptions> = {}): Promise<Fixture> {
  const root = fs.mkdtempSync(join(tmpdir(), 'tireless-documents-'))
  const clock = new FakeClock()
  const store = await openSqliteStore({ file: join(root, 'db'), clock, writes: 'here' })
  const folder = join(root, 'kernels', 'default')
  const state = join(folder, 'STATE.md')
  const reports: Fixture['told'] = []
  const instances: { close(): Promise<void> }[] = []
  const files = diskFiles(folder, clock)
  const again = (changes: Partial<DocumentsOptions> = {}): Documents => {
    const created = createDocuments({
      ...{ kernelId: 'default', store, clock, files, fallback: diskFiles(join(root, 'fallback'), clock) },
      ...{
        mirror: null,
        needsAcceptance: () => false,
        redact: (text: string) => text.replaceAll('hunter2-hunter2', '(secret)'),
      },
      report: (event, { message = '' }) => reports.push({ event, message }),
      ...more,
      ...changes,
    })
    instances.push(created)
    return created
  }
  t.after(async () => {
    for (const instance of instances) await instance.close()
    await store.close()
    fs.rmSync(root, { recursive: true })
  })
  const file = (): string => fs.readFileSync(state, 'utf8')
  return {
    ...{ told: reports, folder, state, clock, again, file, files },
    documents: again(),
    edit(change) {
      const text = typeof change === 'string' ? change : change(file())
      fs.mkdirSync(folder, { recursive: true })
      fs.writeFileSync(state, text)
    },
    beside: (kind) => fs.readdirSync(folder).filter((name) => name.startsWith(`STATE.md.${kind}-`)),
  }
}

const renderTestBlock = (cycle_id: string): string => {
  const counts = { dispatched: 0, succeeded: 0, failed: 0, duration_ms: 1 }
  const said = { updated_at: 'now', status: 'success', failed_agents: [], agent_summary: '', error: null }
  return renderRuntimeBlock({ ...counts, ...said, cycle_id }, [], 5)
}
const writeCycle = (documents: Documents, id: string) =>
  documents.write('STATE.md', (text) => replaceBlock(text, renderTestBlock(id)), {
    author: 'system',
    reason: 'cycle',
    cycle_id: id,
  })
const writeAsAgent = (documents: Documents, change: (text: string) => string) =>
  documents.write('STATE.md', change, { author: 'agent', reason: 'edit_state' })
const readState = async (documents: Documents): Promise<string | undefined> => (await documents.read('STATE.md'))?.text

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

  test('case 127: an edit is merged with a write of an agent to another line; both become versions', async (t) => {
    const { documents, edit, file } = await createFixture(t)
    await documents.seed('STATE.md', '# state\n## plan\n(none)\n## notes\n- a')
    await writeCycle(documents, 'c1')
    const created = await writeAsAgent(documents, (text) => {
      edit((now) => now.replace('- a', '- a by the owner'))
      return text.replace('(none)', 'ship it')
    })
    assert.equal(textOutsideBlock(created.text), '# state\n## plan\nship it\n## notes\n- a by the owner')
    assert.equal(file(), created.text)
    assert.deepEqual(
      (await documents.versions('STATE.md', 2)).map(({ author }) => author),
      ['owner', 'agent'],
    )
  })

  test('I7: on a conflict the store keeps its text; the edit is saved as a copy and reported once', async (t) => {
    const { documents, edit, file, beside, told, folder } = await createFixture(t)
    await documents.seed('STATE.md', '# state\n(none)\n')
    const created = await writeAsAgent(documents, () => {
      edit('# state\nby the owner\n')
      return '# state\nby the agent\n'
    })
    assert.deepEqual([created.text, file()], ['# state\nby the agent\n', '# state\nby the agent\n'])
    const [copy = ''] = beside('conflict')
    assert.match(copy, /^STATE\.md\.conflict-2026-01-01T00-00-00\.000Z$/)
    assert.equal(fs.readFileSync(join(folder, copy), 'utf8'), '# state\nby the owner\n')
    assert.equal(fs.statSync(join(folder, copy)).mode & 0o777, 0o600)
    await writeCycle(documents, 'c1')
    assert.equal(beside('conflict').length, 1)
    assert.deepEqual(
      told.map(({ event }) => event),
      ['clash'],
    )
  })

  test('I7: in any order of edits by owner and agent, no line is lost', async (t) => {
    const { documents, edit, file, folder } = await createFixture(t)
    await documents.seed('STATE.md', '# state\n(none)\n')
    const stepArbitrary = fc.record({ who: fc.constantFrom('owner', 'agent', 'system', 'both'), at: fc.nat(5) })
    let n = 0
    await fc.assert(
      fc.asyncProperty(fc.array(stepArbitrary, { maxLength: 6 }), async (moves) => {
        const written: string[] = []
        for (const { who, at } of moves) {
          const insertLine = (name: string) => (text: string) => {
            const line = `${name} ${n++}`
            written.push(line)
            const lines = text.split('\n')
            return lines.toSpliced(Math.min(at, lines.length), 0, line).join('\n')
          }
          if (who === 'owner') edit(insertLine('owner'))
          if (who === 'agent') await writeAsAgent(documents, insertLine('agent'))
          if (who === 'system') await writeCycle(documents, `c${n++}`)
          if (who === 'both')
            await writeAsAgent(documents, (text) => {
              if (written.at(-1)?.startsWith('both') !== true) edit(insertLine('both'))
              return insertLine('agent')(text)
            })
        }
        const text = await readState(documents)
        assert.equal(file(), text)
        const everywhere = [text, ...fs.readdirSync(folder).map((name) => fs.readFileSync(join(folder, name), 'utf8'))]
        const versions = await documents.versions('STATE.md', 50)
        for (const { version } of versions) everywhere.push((await documents.version('STATE.md', version))?.text ?? '')
        for (const line of written)
          assert.ok(
            everywhere.some((candidate) => candidate?.includes(line)),
            line,
          )
      }),
      { numRuns: 40 },
    )
  })

  test('I7: a write into a file that was just replaced is found', async (t) => {
    const { documents, state, file, edit } = await createFixture(t)
    await documents.seed('STATE.md', '# state\n(none)\n')
    for (const truncated of [false, true]) {
      const handle = fs.openSync(state, 'r+')
      const before = file()
      // An editor saves in place: the file is empty for a moment.
      if (truncated) fs.ftruncateSync(handle)
      await writeCycle(documents, `c${truncated}`)
      const saved = before.replace('# state\n', `# state\nsaved late, ${truncated}\n`)
      fs.ftruncateSync(handle)
      fs.writeSync(handle, saved, 0)
      fs.closeSync(handle)
      assert.ok((await readState(documents))?.includes(`saved late, ${truncated}\n`))
    }
    edit((text) => `${text}the end\n`)
    const text = await readState(documents)
    assert.ok(text?.includes('saved late, false') && text.endsWith('the end\n'))
    assert.equal(file(), text)
  })

  test('I7: an edit between reading and writing is noticed and not overwritten', async (t) => {
    const { again, files, edit, file } = await createFixture(t)
    let edits = 3
    const documents = again({
      files: {
        ...files,
        replace(name, text, over) {
          if (over.kind === 'text' && edits-- > 0) edit((now) => `- edit ${edits}\n${now}`)
          return files.replace(name, text, over)
        },
      },
    })
    await documents.seed('STATE.md', '# state\n')
    const { text } = await writeCycle(documents, 'c1')
    assert.equal(textOutsideBlock(text), '- edit 0\n- edit 1\n- edit 2\n# state\n')
    assert.equal(file(), text)
  })

  test('I7: a save at any moment of a replacement is found, by rename or in place', async (t) => {
    const { folder, state, files } = await createFixture(t)
    fs.mkdirSync(folder, { recursive: true })
    const saves: ((text: string) => void)[] = [
      (text) => {
        fs.writeFileSync(`${state}.new`, text)
        fs.renameSync(`${state}.new`, state)
      },
      (text) => fs.writeFileSync(state, text),
    ]
    for (const [saveKind, save] of saves.entries()) {
      let endedCount = 0
      // Saves a few turns of the event loop later each time, until the replacement ends before the save.
      for (let moment = 0; endedCount < 3 && moment < 600; moment += 3) {
        fs.writeFileSync(state, 'before\n')
        let hasEnded = false
        const replaced = files.replace('STATE.md', 'ours\n', { kind: 'text', text: 'before\n' }).then(() => {
          hasEnded = true
        })
        for (let turn = 0; turn < moment; turn += 1) await setImmediate()
        if (hasEnded) endedCount += 1
        save(`saved ${saveKind} ${moment}\n`)
        await replaced
        const late = await files.findLateEdit('STATE.md')
        await late?.keep()
        const content = await files.read('STATE.md')
        const texts = [late?.text, content.kind === 'text' ? content.text : content.kind]
        assert.ok(texts.includes(`saved ${saveKind} ${moment}\n`), `way ${saveKind}, moment ${moment}: ${texts.join()}`)
      }
    }
  })

  test('I7: after a kill during a replacement, the next process merges what an editor saved', async (t) => {
    const { documents, again, folder, state, file, beside, clock } = await createFixture(t)
    const { sha256 } = await documents.seed('STATE.md', '# it\na\nb\n')
    await writeAsAgent(documents, (text) => text.replace('a', 'A'))
    const restartWith = (text: string, sha: string): Documents => {
      fs.rmSync(state)
      fs.writeFileSync(join(folder, `.STATE.md.taken-${sha}-7`), text)
      return again({ files: diskFiles(folder, clock) })
    }
    assert.equal(await readState(restartWith('# it\na\nb\n', sha256)), '# it\nA\nb\n', 'no save')
    assert.equal(await readState(restartWith('# it\na\nB\n', sha256)), '# it\nA\nB\n', 'saved over the first version')
    assert.equal(beside('conflict').length, 0)
    assert.equal(await readState(restartWith('# other\n', 'f'.repeat(64))), '# it\nA\nB\n', 'base unknown')
    assert.equal(fs.readFileSync(join(folder, beside('conflict')[0] ?? ''), 'utf8'), '# other\n')
    assert.equal(file(), '# it\nA\nB\n')
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
    assert.deepEqual([file(), beside('torn')], [text, []])
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

  test('case 142: the number of copies next to a document is limited', async (t) => {
    const { documents, edit, beside, clock, folder } = await createFixture(t)
    await documents.seed('STATE.md', '# state\n')
    for (let n = 0; n < 30; n += 1) {
      edit(`${n}\0`)
      if (n % 2 === 0) await clock.advance(1000)
      await documents.read('STATE.md')
    }
    assert.equal(beside('torn').length, 20)
    const kept = beside('torn').map((name) => Number.parseInt(fs.readFileSync(join(folder, name), 'utf8'), 10))
    assert.deepEqual(
      kept.sort((a, b) => a - b),
      Array.from({ length: 20 }, (_, i) => i + 10),
    )
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

describe('documents that must be accepted', () => {
  const createSeeded = async (t: TestContext): Promise<Fixture> => {
    const created = await createFixture(t, { needsAcceptance: () => true })
    await created.documents.seed('STATE.md', '# state\n(none)\n')
    return created
  }

  test('E2: an edit is neither used nor overwritten until it is accepted; then it is merged', async (t) => {
    const { documents, edit, file, told } = await createSeeded(t)
    edit((text) => `${text}by whom?\n`)
    const edited = file()
    assert.equal(await readState(documents), '# state\n(none)\n')
    await writeAsAgent(documents, (text) => text.replace('(none)', 'ship it'))
    await writeCycle(documents, 'c1')
    assert.equal(file(), edited)
    assert.equal(await documents.pending('STATE.md'), edited)
    assert.match(documents.degraded() ?? '', /STATE\.md was edited as a file.*state diff.*state accept`$/)
    assert.equal(await documents.accept('STATE.md'), 'taken')
    assert.equal(textOutsideBlock(file()), '# state\nship it\nby whom?\n')
    assert.deepEqual([documents.degraded(), await documents.pending('STATE.md')], [null, undefined])
    assert.deepEqual(
      told.map(({ event }) => event),
      ['degraded', 'recovered'],
    )
  })

  test('E2: a conflicting edit is saved as a copy, also when accepted; `revert` drops an unwanted edit', async (t) => {
    const { documents, edit, file, beside } = await createSeeded(t)
    edit('# state\nby whom?\n')
    await writeAsAgent(documents, () => '# state\nby the agent\n')
    assert.equal(await documents.accept('STATE.md'), 'clash')
    assert.deepEqual([file(), beside('conflict').length], ['# state\nby the agent\n', 1])
    edit('# state\nagain\n')
    const reverted = await documents.revert('STATE.md')
    assert.deepEqual([reverted.version, file(), beside('reverted').length], [2, '# state\nby the agent\n', 1])
    edit('# state\nand again\n')
    assert.equal((await documents.revert('STATE.md', 1)).text, '# state\n(none)\n')
    assert.equal(file(), '# state\n(none)\n')
  })

  test('E2: a file from before the first start waits, too; once accepted, it replaces the seed', async (t) => {
    const { documents, edit, file } = await createFixture(t, { needsAcceptance: () => true })
    edit('# mine\n')
    assert.equal((await documents.seed('STATE.md', '# seed\n')).text, '# seed\n')
    await writeCycle(documents, 'c1')
    assert.equal(file(), '# mine\n')
    assert.equal(await documents.accept('STATE.md'), 'taken')
    assert.equal(file(), replaceBlock('# mine\n', renderTestBlock('c1')))
  })

  test('I7: a write into a replaced file is not trusted either: it is saved as a copy', async (t) => {
    const { documents, state, file, beside } = await createSeeded(t)
    const handle = fs.openSync(state, 'r+')
    await writeCycle(documents, 'c1')
    const text = file()
    fs.writeSync(handle, '# evil\n', 0)
    fs.closeSync(handle)
    assert.equal(await readState(documents), text)
    assert.deepEqual([file(), beside('conflict').length], [text, 1])
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
