/** Edits of documents at every moment: merged, reported, or held back until they are accepted. */

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import {
  createFixture,
  type Fixture,
  readState,
  renderTestBlock,
  writeAsAgent,
  writeCycle,
} from '../../../test/support/document-fixtures.ts'
import { replaceBlock, textOutsideBlock } from '../../domain/runtime-block.ts'
import type { Documents } from '../../ports/documents.ts'
import { diskFiles } from './files.ts'

describe('edits of people and agents at the same time', () => {
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
    assert.deepEqual(
      { returned: created.text, file: file() },
      { returned: '# state\nby the agent\n', file: '# state\nby the agent\n' },
    )
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
    assert.deepEqual(
      { degraded: documents.degraded(), pending: await documents.pending('STATE.md') },
      { degraded: null, pending: undefined },
    )
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
    assert.deepEqual(
      { file: file(), copyCount: beside('conflict').length },
      { file: '# state\nby the agent\n', copyCount: 1 },
    )
    edit('# state\nagain\n')
    const reverted = await documents.revert('STATE.md')
    assert.deepEqual(
      { version: reverted.version, file: file(), copyCount: beside('reverted').length },
      { version: 2, file: '# state\nby the agent\n', copyCount: 1 },
    )
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

  test('E2: a file that comes with a new home, and has only a comment, counts as no edit of the owner', async (t) => {
    const { documents, edit } = await createFixture(t)
    edit('<!-- What your agents should know. -->\n')
    assert.match((await documents.read('STATE.md'))?.text ?? '', /^<!-- What/)
    edit('<!-- What your agents should know. -->\nI like tea.\n')
    await documents.read('STATE.md')
    edit('<!-- only a comment again -->\n')
    await documents.read('STATE.md')
    const written = (await documents.versions('STATE.md', 9)).map(({ author, reason }) => `${author}: ${reason}`)
    assert.deepEqual(written, ['owner: edited as a file', 'owner: edited as a file', 'system: seed'])
  })

  test('I7: a write into a replaced file is not trusted either: it is saved as a copy', async (t) => {
    const { documents, state, file, beside } = await createSeeded(t)
    const handle = fs.openSync(state, 'r+')
    await writeCycle(documents, 'c1')
    const text = file()
    fs.writeSync(handle, '# evil\n', 0)
    fs.closeSync(handle)
    assert.equal(await readState(documents), text)
    assert.deepEqual({ file: file(), copyCount: beside('conflict').length }, { file: text, copyCount: 1 })
  })
})
