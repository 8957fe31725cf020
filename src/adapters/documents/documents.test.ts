/** Documents on a real store and real files, with owners who edit them at every moment. */

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { MOST_DOCUMENT_BYTES } from '../../domain/document.ts'
import { TirelessError } from '../../domain/error.ts'
import { lifted, outsideBlock, renderBlock, withBlock } from '../../domain/runtime-block.ts'
import type { Documents } from '../../ports/documents.ts'
import { documentsConformance } from '../../testing/documents-conformance.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { openSqliteStore } from '../stores/sqlite/store.ts'
import { createDocuments, type DocumentsOptions } from './documents.ts'
import { diskFiles, type Files } from './files.ts'

interface Place {
  readonly documents: Documents
  readonly told: { readonly event: string; readonly message: string }[]
  readonly folder: string
  readonly state: string
  readonly clock: FakeClock
  readonly files: Files
  /** The program again, on the same home. */
  again(more?: Partial<DocumentsOptions>): Documents
  edit(text: string | ((text: string) => string)): void
  file(): string
  beside(kind: string): string[]
}

async function place(t: TestContext, more: Partial<DocumentsOptions> = {}): Promise<Place> {
  const root = fs.mkdtempSync(join(tmpdir(), 'tireless-documents-'))
  const clock = new FakeClock()
  const store = await openSqliteStore({ file: join(root, 'db'), clock, writes: 'here' })
  const folder = join(root, 'kernels', 'default')
  const state = join(folder, 'STATE.md')
  const told: Place['told'] = []
  const lives: { close(): Promise<void> }[] = []
  const files = diskFiles(folder, clock)
  const again = (changes: Partial<DocumentsOptions> = {}): Documents => {
    const made = createDocuments({
      ...{ kernelId: 'default', store, clock, files, fallback: diskFiles(join(root, 'fallback'), clock) },
      ...{
        mirror: null,
        guarded: () => false,
        redact: (text: string) => text.replaceAll('hunter2-hunter2', '(secret)'),
      },
      tell: (event, { message = '' }) => told.push({ event, message }),
      ...more,
      ...changes,
    })
    lives.push(made)
    return made
  }
  t.after(async () => {
    for (const life of lives) await life.close()
    await store.close()
    fs.rmSync(root, { recursive: true })
  })
  const file = (): string => fs.readFileSync(state, 'utf8')
  return {
    ...{ told, folder, state, clock, again, file, files },
    documents: again(),
    edit(change) {
      const text = typeof change === 'string' ? change : change(file())
      fs.mkdirSync(folder, { recursive: true })
      fs.writeFileSync(state, text)
    },
    beside: (kind) => fs.readdirSync(folder).filter((name) => name.startsWith(`STATE.md.${kind}-`)),
  }
}

const blockOf = (cycle_id: string): string => {
  const counts = { dispatched: 0, succeeded: 0, failed: 0, duration_ms: 1 }
  const said = { updated_at: 'now', status: 'success', failed_agents: [], agent_summary: '', error: null }
  return renderBlock({ ...counts, ...said, cycle_id }, [], 5)
}
const cycle = (documents: Documents, id: string) =>
  documents.write('STATE.md', (text) => withBlock(text, blockOf(id)), {
    author: 'system',
    reason: 'cycle',
    cycle_id: id,
  })
const agent = (documents: Documents, change: (text: string) => string) =>
  documents.write('STATE.md', change, { author: 'agent', reason: 'edit_state' })
const textOf = async (documents: Documents): Promise<string | undefined> => (await documents.read('STATE.md'))?.text

/** The copy before ours was put there by its owner, as was the one behind. */
function withoutFirst(text: string, block: string, what: string): string {
  const at = what === 'a copy of ours before it' ? text.lastIndexOf(block) : text.indexOf(block)
  return at < 0 ? text : text.slice(0, at) + text.slice(at + block.length)
}

/** Around our block there may be an empty line more or less. */
const normal = (text: string): string => text.replaceAll(/\n+/g, '\n')

describe('documents', () => {
  for (const { name, run } of documentsConformance) test(name, async (t) => run((await place(t)).documents))
})

describe('documents as files', () => {
  test('E2: the file is the document, for its owner only, with nothing left beside it; a mode of the owner is kept', async (t) => {
    const { documents, folder, state, file, clock } = await place(t)
    const { text } = await documents.seed('STATE.md', '# seed\n')
    assert.equal(file(), text)
    assert.equal(fs.statSync(state).mode & 0o777, 0o600)
    fs.chmodSync(state, 0o644)
    await cycle(documents, 'c1')
    assert.equal(file(), withBlock(text, blockOf('c1')))
    assert.equal(fs.statSync(state).mode & 0o777, 0o644)
    // An editor may still have the file open that was there before; a minute later it does not count any more.
    await clock.advance(61_000)
    await documents.read('STATE.md')
    assert.deepEqual(fs.readdirSync(folder), ['STATE.md'])
  })

  test('E2: an empty file is seeded too; one that is there is taken as it is', async (t) => {
    const one = await place(t)
    one.edit('')
    assert.equal((await one.documents.seed('STATE.md', '# seed\n')).text, '# seed\n')
    assert.equal(one.file(), '# seed\n')
    const other = await place(t)
    other.edit('\u{feff}# mine\r\n')
    assert.equal((await other.documents.seed('STATE.md', '# seed\n')).text, '\u{feff}# mine\r\n')
    assert.equal((await other.documents.read('STATE.md'))?.author, 'owner')
  })

  test('case 127, E2: one block over a hundred cycles, and what owner and agent write in between survives byte for byte', async (t) => {
    const { documents, edit, file } = await place(t)
    await documents.seed('STATE.md', '# state\n## plan\n(none)\n')
    const odd = '| a | b |\n<!-- KERNEL_RUNTIME:START -->\n### cycle_history\n<!-- KERNEL_RUNTIME:END -->\r\n'
    for (let n = 1; n <= 100; n += 1) {
      if (n === 10) edit((text) => odd + text)
      if (n === 20) await agent(documents, (text) => text.replace('(none)', 'ship it'))
      if (n === 30) edit((text) => `${text}behind the block`)
      await cycle(documents, `c${n}`)
    }
    const text = file()
    assert.equal(text.split('## kernel_runtime').length, 2)
    assert.ok(text.includes('- cycle_id: c100\n'))
    assert.equal(outsideBlock(text), `${odd}# state\n## plan\nship it\n\nbehind the block`)
  })

  test('case 127, E2: a whole block that somebody pasted is theirs, wherever it stands, and ours stays ours', async (t) => {
    const pasted = blockOf('pasted')
    const begin = `# mine\n\`\`\`\n${pasted}\n\`\`\`\nwords\n`
    const { documents, edit, file } = await place(t)
    const own = (): string => outsideBlock(file())
    edit(begin)
    for (const id of ['c1', 'c2']) await cycle(documents, id)
    assert.equal(own(), begin, 'in a file from before the first cycle')
    assert.ok(file().includes('- cycle_id: c2\n') && !file().includes('c1'))
    const edits: [string, (text: string) => string][] = [
      ['behind ours', (text) => `${text}${pasted}\nthe end\n`],
      ['a copy of ours behind it', (text) => `${text}${lifted(text).block}\n`],
      ['a copy of ours before it', (text) => `${lifted(text).block}\n${text}`],
      ['between words', (text) => text.replace('words\n', `words\n${pasted}\nmore words\n`)],
      ['ours is gone', (text) => outsideBlock(text)],
    ]
    for (const [what, change] of edits) {
      const before = file()
      edit(change)
      // What the owner sees in the file, without the block that was in it before.
      const wanted = withoutFirst(file(), lifted(before).block ?? '', what)
      for (const id of ['c3', 'c4', `after ${what}`]) await cycle(documents, id)
      assert.equal(normal(own()), normal(wanted), what)
      assert.equal(file().split(`- cycle_id: after ${what}\n`).length, 2, what)
    }
  })

  test('case 127: an edit while an agent writes another line is merged, and both are told as versions', async (t) => {
    const { documents, edit, file } = await place(t)
    await documents.seed('STATE.md', '# state\n## plan\n(none)\n## notes\n- a')
    await cycle(documents, 'c1')
    const made = await agent(documents, (text) => {
      edit((now) => now.replace('- a', '- a by the owner'))
      return text.replace('(none)', 'ship it')
    })
    assert.equal(outsideBlock(made.text), '# state\n## plan\nship it\n## notes\n- a by the owner')
    assert.equal(file(), made.text)
    assert.deepEqual(
      (await documents.versions('STATE.md', 2)).map(({ author }) => author),
      ['owner', 'agent'],
    )
  })

  test('I7: on a clash the store keeps its text, the edit lies beside it, and that is told once', async (t) => {
    const { documents, edit, file, beside, told, folder } = await place(t)
    await documents.seed('STATE.md', '# state\n(none)\n')
    const made = await agent(documents, () => {
      edit('# state\nby the owner\n')
      return '# state\nby the agent\n'
    })
    assert.deepEqual([made.text, file()], ['# state\nby the agent\n', '# state\nby the agent\n'])
    const [copy = ''] = beside('conflict')
    assert.match(copy, /^STATE\.md\.conflict-2026-01-01T00-00-00\.000Z$/)
    assert.equal(fs.readFileSync(join(folder, copy), 'utf8'), '# state\nby the owner\n')
    assert.equal(fs.statSync(join(folder, copy)).mode & 0o777, 0o600)
    await cycle(documents, 'c1')
    assert.equal(beside('conflict').length, 1)
    assert.deepEqual(
      told.map(({ event }) => event),
      ['clash'],
    )
  })

  test('I7: whatever owner and agent do, and when, an end is reached and no line of either is lost from everywhere', async (t) => {
    const { documents, edit, file, folder } = await place(t)
    await documents.seed('STATE.md', '# state\n(none)\n')
    const move = fc.record({ who: fc.constantFrom('owner', 'agent', 'system', 'both'), at: fc.nat(5) })
    let n = 0
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 6 }), async (moves) => {
        const written: string[] = []
        for (const { who, at } of moves) {
          const put = (name: string) => (text: string) => {
            const line = `${name} ${n++}`
            written.push(line)
            const lines = text.split('\n')
            return lines.toSpliced(Math.min(at, lines.length), 0, line).join('\n')
          }
          if (who === 'owner') edit(put('owner'))
          if (who === 'agent') await agent(documents, put('agent'))
          if (who === 'system') await cycle(documents, `c${n++}`)
          if (who === 'both')
            await agent(documents, (text) => {
              if (written.at(-1)?.startsWith('both') !== true) edit(put('both'))
              return put('agent')(text)
            })
        }
        const text = await textOf(documents)
        assert.equal(file(), text)
        const everywhere = [text, ...fs.readdirSync(folder).map((name) => fs.readFileSync(join(folder, name), 'utf8'))]
        const versions = await documents.versions('STATE.md', 50)
        for (const { version } of versions) everywhere.push((await documents.version('STATE.md', version))?.text ?? '')
        for (const line of written)
          assert.ok(
            everywhere.some((one) => one?.includes(line)),
            line,
          )
      }),
      { numRuns: 40 },
    )
  })

  test('I7: what an editor writes in place into a file that has just been replaced is found there', async (t) => {
    const { documents, state, file, edit } = await place(t)
    await documents.seed('STATE.md', '# state\n(none)\n')
    for (const truncated of [false, true]) {
      const handle = fs.openSync(state, 'r+')
      const before = file()
      // A save in place: empty for a moment, then all of it.
      if (truncated) fs.ftruncateSync(handle)
      await cycle(documents, `c${truncated}`)
      const saved = before.replace('# state\n', `# state\nsaved late, ${truncated}\n`)
      fs.ftruncateSync(handle)
      fs.writeSync(handle, saved, 0)
      fs.closeSync(handle)
      assert.ok((await textOf(documents))?.includes(`saved late, ${truncated}\n`))
    }
    edit((text) => `${text}the end\n`)
    const text = await textOf(documents)
    assert.ok(text?.includes('saved late, false') && text.endsWith('the end\n'))
    assert.equal(file(), text)
  })

  test('I7: an edit between the look and the writing is seen, and nothing is written over it', async (t) => {
    const { again, files, edit, file } = await place(t)
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
    const { text } = await cycle(documents, 'c1')
    assert.equal(outsideBlock(text), '- edit 0\n- edit 1\n- edit 2\n# state\n')
    assert.equal(file(), text)
  })

  test('I7: a save at any moment of a replacement is found, whether the editor renames its file or writes in place', async (t) => {
    const { folder, state, files } = await place(t)
    fs.mkdirSync(folder, { recursive: true })
    const saves: ((text: string) => void)[] = [
      (text) => {
        fs.writeFileSync(`${state}.new`, text)
        fs.renameSync(`${state}.new`, state)
      },
      (text) => fs.writeFileSync(state, text),
    ]
    for (const [way, save] of saves.entries()) {
      let wasOver = 0
      // Some turns of the event loop later each time, until the replacement was over before the save, and some more.
      for (let moment = 0; wasOver < 3 && moment < 600; moment += 3) {
        fs.writeFileSync(state, 'before\n')
        let isOver = false
        const replaced = files.replace('STATE.md', 'ours\n', { kind: 'text', text: 'before\n' }).then(() => {
          isOver = true
        })
        for (let turn = 0; turn < moment; turn += 1) await setImmediate()
        if (isOver) wasOver += 1
        save(`saved ${way} ${moment}\n`)
        await replaced
        const late = await files.late('STATE.md')
        await late?.keep()
        const found = await files.read('STATE.md')
        const texts = [late?.text, found.kind === 'text' ? found.text : found.kind]
        assert.ok(texts.includes(`saved ${way} ${moment}\n`), `way ${way}, moment ${moment}: ${texts.join()}`)
      }
    }
  })

  test('I7: killed while a file is replaced, what an editor saved in that moment is merged by the next process', async (t) => {
    const { documents, again, folder, state, file, beside, clock } = await place(t)
    const { sha256 } = await documents.seed('STATE.md', '# it\na\nb\n')
    await agent(documents, (text) => text.replace('a', 'A'))
    const next = (text: string, sha: string): Documents => {
      fs.rmSync(state)
      fs.writeFileSync(join(folder, `.STATE.md.taken-${sha}-7`), text)
      return again({ files: diskFiles(folder, clock) })
    }
    assert.equal(await textOf(next('# it\na\nb\n', sha256)), '# it\nA\nb\n', 'nobody saved')
    assert.equal(await textOf(next('# it\na\nB\n', sha256)), '# it\nA\nB\n', 'saved over the first version')
    assert.equal(beside('conflict').length, 0)
    assert.equal(await textOf(next('# other\n', 'f'.repeat(64))), '# it\nA\nB\n', 'nobody knows over what')
    assert.equal(fs.readFileSync(join(folder, beside('conflict')[0] ?? ''), 'utf8'), '# other\n')
    assert.equal(file(), '# it\nA\nB\n')
  })

  test('E2: the new file is on disk before it gets its name, and its name before anything builds on it', async (t) => {
    if (spawnSync('strace', ['-V']).status !== 0) return t.skip('strace is missing')
    const { folder } = await place(t)
    const log = `${folder}.strace`
    const script = `import { diskFiles } from ${JSON.stringify(import.meta.resolve('./files.ts'))}
      await diskFiles(${JSON.stringify(folder)}, { now: () => 0 }).replace('STATE.md', 'text', { kind: 'absent' })`
    const node = [process.execPath, '--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script]
    fs.mkdirSync(folder, { recursive: true })
    // Without the cache of compiled code, which renames files of its own.
    const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' }
    execFileSync('strace', ['-f', '-y', '-o', log, '-e', 'trace=fsync,/^(rename|link)', ...node], { env })
    const calls = fs.readFileSync(log, 'utf8').matchAll(/(fsync|rename|link)\w*\(.*?([^/"<>]+)[">](?:, 0)?\)/g)
    assert.deepEqual(
      [...calls].map(([, call, path = '']) => `${call} ${path}`),
      ['fsync .STATE.md.tmp', 'link STATE.md', 'fsync default'],
    )
  })

  test('E2: a file that was lost is back; one that holds no text is set aside first, and that is told', async (t) => {
    const { documents, edit, file, state, beside, told, clock } = await place(t)
    const { text } = await documents.seed('STATE.md', '# state\n')
    fs.rmSync(state)
    await documents.read('STATE.md')
    assert.equal(file(), text)
    edit('')
    assert.equal(await textOf(documents), text)
    assert.deepEqual([file(), beside('torn')], [text, []])
    const torn: [string, () => void][] = [
      ['no UTF-8', () => fs.writeFileSync(state, Buffer.from([35, 0xc3, 0x28]))],
      ['NUL', () => edit('# st\0\0\0')],
      ['1 MB', () => edit('x'.repeat(MOST_DOCUMENT_BYTES + 1))],
      ['regular', () => fs.symlinkSync('/etc/passwd', state)],
      ['regular', () => fs.mkdirSync(state)],
    ]
    for (const [why, spoil] of torn) {
      fs.rmSync(state, { recursive: true })
      spoil()
      await clock.advance(1000)
      assert.equal(await textOf(documents), text, why)
      assert.equal(file(), text)
      assert.match(told.at(-1)?.message ?? '', new RegExp(`${why}.*STATE\\.md\\.torn-`))
    }
    assert.equal(beside('torn').length, torn.length)
    assert.equal((await documents.versions('STATE.md', 10)).length, 1)
  })

  test('case 142: what lies beside a document is not kept for ever', async (t) => {
    const { documents, edit, beside, clock, folder } = await place(t)
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

  test('E2: killed between a version and its file, an edit is still one of what was there', async (t) => {
    const { documents, again, edit, file, files } = await place(t)
    await documents.seed('STATE.md', '# it\na\nb\n')
    const dying = again({ files: { ...files, replace: () => Promise.reject(new Error('killed')) } })
    await agent(dying, (text) => text.replace('a', 'A'))
    assert.equal(file(), '# it\na\nb\n')
    edit((text) => text.replace('b', 'B'))
    assert.equal(await textOf(again()), '# it\nA\nB\n')
    assert.equal(file(), '# it\nA\nB\n')
  })

  test('E2: killed between a file and the note of it, no edit is seen where there is none', async (t) => {
    for (const guarded of [false, true]) {
      const { documents, again, file, files } = await place(t, { guarded: () => guarded })
      await documents.seed('STATE.md', '# it\na\n')
      const replace: Files['replace'] = async (...args) => {
        await files.replace(...args)
        throw new Error('killed')
      }
      await agent(again({ files: { ...files, replace } }), (text) => text.replace('a', 'A'))
      assert.equal(file(), '# it\nA\n')
      const next = again()
      assert.equal(await next.pending('STATE.md'), undefined)
      await agent(next, (text) => text.replace('A', 'AA'))
      assert.equal(file(), '# it\nAA\n')
      assert.equal((await next.versions('STATE.md', 9)).length, 3)
    }
  })

  test('E2: an older text that the owner puts there is an edit like any other', async (t) => {
    const { documents, edit, file } = await place(t)
    await documents.seed('STATE.md', 'old\n')
    await agent(documents, () => 'new\n')
    edit('old\n')
    assert.equal(await textOf(documents), 'old\n')
    assert.equal(file(), 'old\n')
  })
})

describe('documents that must be accepted', () => {
  const seeded = async (t: TestContext): Promise<Place> => {
    const made = await place(t, { guarded: () => true })
    await made.documents.seed('STATE.md', '# state\n(none)\n')
    return made
  }

  test('E2: an edit is not taken and not written over until it is accepted; then it is merged with what happened since', async (t) => {
    const { documents, edit, file, told } = await seeded(t)
    edit((text) => `${text}by whom?\n`)
    const edited = file()
    assert.equal(await textOf(documents), '# state\n(none)\n')
    await agent(documents, (text) => text.replace('(none)', 'ship it'))
    await cycle(documents, 'c1')
    assert.equal(file(), edited)
    assert.equal(await documents.pending('STATE.md'), edited)
    assert.match(documents.degraded() ?? '', /STATE\.md was edited as a file.*state diff.*state accept$/)
    assert.equal(await documents.accept('STATE.md'), 'taken')
    assert.equal(outsideBlock(file()), '# state\nship it\nby whom?\n')
    assert.deepEqual([documents.degraded(), await documents.pending('STATE.md')], [null, undefined])
    assert.deepEqual(
      told.map(({ event }) => event),
      ['degraded', 'well again'],
    )
  })

  test('E2: an edit that clashes is put beside, also when it is accepted; one that is not wanted goes with `revert`', async (t) => {
    const { documents, edit, file, beside } = await seeded(t)
    edit('# state\nby whom?\n')
    await agent(documents, () => '# state\nby the agent\n')
    assert.equal(await documents.accept('STATE.md'), 'clash')
    assert.deepEqual([file(), beside('conflict').length], ['# state\nby the agent\n', 1])
    edit('# state\nagain\n')
    const reverted = await documents.revert('STATE.md')
    assert.deepEqual([reverted.version, file(), beside('reverted').length], [2, '# state\nby the agent\n', 1])
    edit('# state\nand again\n')
    assert.equal((await documents.revert('STATE.md', 1)).text, '# state\n(none)\n')
    assert.equal(file(), '# state\n(none)\n')
  })

  test('E2: a file from before the first start waits as well; work begins with the seed, and once accepted the file wins', async (t) => {
    const { documents, edit, file } = await place(t, { guarded: () => true })
    edit('# mine\n')
    assert.equal((await documents.seed('STATE.md', '# seed\n')).text, '# seed\n')
    await cycle(documents, 'c1')
    assert.equal(file(), '# mine\n')
    assert.equal(await documents.accept('STATE.md'), 'taken')
    assert.equal(file(), withBlock('# mine\n', blockOf('c1')))
  })

  test('I7: what is written into a replaced file is nobody who vouches either: it is put beside', async (t) => {
    const { documents, state, file, beside } = await seeded(t)
    const handle = fs.openSync(state, 'r+')
    await cycle(documents, 'c1')
    const text = file()
    fs.writeSync(handle, '# evil\n', 0)
    fs.closeSync(handle)
    assert.equal(await textOf(documents), text)
    assert.deepEqual([file(), beside('conflict').length], [text, 1])
  })
})

describe('documents without their folder', () => {
  test('E11: where the folder cannot be used, work goes on from the store and shows elsewhere; it is back by itself', async (t) => {
    const { documents, again, folder, file, told } = await place(t)
    await documents.seed('STATE.md', '# state\n')
    fs.renameSync(folder, `${folder}.away`)
    fs.writeFileSync(folder, 'in the way')
    await cycle(documents, 'c1')
    const { text } = await agent(documents, (now) => now.replace('# state', '# state of things'))
    const fallback = join(folder, '../../fallback/STATE.md')
    assert.equal(fs.readFileSync(fallback, 'utf8'), text)
    assert.match(
      documents.degraded() ?? '',
      /kernels\/default\/STATE\.md cannot be used .*ENOTDIR.*fallback\/STATE\.md$/,
    )
    assert.match(again().degraded() ?? '', /kernels\/default could not be written; STATE\.md/, 'to whoever asks later')
    fs.rmSync(folder)
    fs.renameSync(`${folder}.away`, folder)
    fs.appendFileSync(join(folder, 'STATE.md'), 'edited meanwhile\n')
    await cycle(documents, 'c2')
    assert.equal(outsideBlock(file()), '# state of things\nedited meanwhile\n')
    assert.equal(documents.degraded(), null)
    assert.equal(fs.existsSync(fallback), false)
    assert.deepEqual(
      told.map(({ event }) => event),
      ['degraded', 'well again'],
    )
  })

  test('E11: a full disk, and then none at all: nothing is thrown, nothing half is left, and nothing is lost', async (t) => {
    const { again, files, file, folder } = await place(t)
    const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
    let isFull = false
    const tight = (inner: Files): Files => ({
      ...inner,
      replace: (...args) => (isFull ? Promise.reject(full) : inner.replace(...args)),
      putBeside: (...args) => (isFull ? Promise.reject(full) : inner.putBeside(...args)),
    })
    const fallback = diskFiles(join(folder, '../../fallback'), new FakeClock())
    const documents = again({ files: tight(files), fallback: tight(fallback) })
    await documents.seed('STATE.md', '# state\n(none)\n')
    isFull = true
    await cycle(documents, 'c1')
    assert.match(documents.degraded() ?? '', /ENOSPC.*only the store has it$/)
    // An edit that clashes can be put nowhere: it is not written over.
    await agent(documents, (text) => text.replace('(none)', 'by the agent'))
    fs.writeFileSync(join(folder, 'STATE.md'), '# state\nby the owner\n')
    await cycle(documents, 'c2')
    assert.equal(file(), '# state\nby the owner\n')
    isFull = false
    const { text } = await cycle(documents, 'c3')
    assert.equal(file(), text)
    assert.equal(outsideBlock(text), '# state\nby the agent\n')
    assert.equal(fs.readdirSync(folder).filter((name) => name.includes('conflict')).length, 1)
    assert.equal(documents.degraded(), null)
  })

  test('E11: a store that fails is no trouble with files: it is thrown', async (t) => {
    const { again } = await place(t)
    const broken = () => Promise.reject(new TirelessError('store_failed', 'the disk is gone'))
    const store = { document: broken, projection: broken, commit: broken } as never
    await assert.rejects(again({ store }).read('STATE.md'), { code: 'store_failed' })
  })
})
