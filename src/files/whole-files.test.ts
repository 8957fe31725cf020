import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { findVersion, keepVersion, replaceKeptFile } from './kept-versions.ts'
import { appendToFile, isDraft, replaceFile, writeNewFile } from './whole-files.ts'

function freshFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'tireless-whole-files-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const modeOf = (file: string): number => statSync(file).mode & 0o777

describe('replaceFile', () => {
  it('creates a file for its owner alone, and keeps the mode of one that is there unless another is given', (t) => {
    const file = join(freshFolder(t), 'a.txt')
    replaceFile(file, 'one')
    assert.equal(modeOf(file), 0o600)
    chmodSync(file, 0o640)
    replaceFile(file, Buffer.from('two'))
    assert.deepEqual([readFileSync(file, 'utf8'), modeOf(file)], ['two', 0o640])
    replaceFile(file, 'three', { mode: 0o600 })
    assert.equal(modeOf(file), 0o600)
  })

  it('replaces the file that a link leads to, also through several links, and creates it if it is missing', (t) => {
    const folder = freshFolder(t)
    mkdirSync(join(folder, 'dotfiles'))
    symlinkSync('dotfiles/a.txt', join(folder, 'near'))
    symlinkSync(join(folder, 'near'), join(folder, 'far'))
    for (const text of ['one', 'two']) {
      replaceFile(join(folder, 'far'), text)
      assert.equal(readFileSync(join(folder, 'dotfiles', 'a.txt'), 'utf8'), text)
    }
    assert.equal(readlinkSync(join(folder, 'near')), 'dotfiles/a.txt')
    assert.deepEqual(readdirSync(folder).toSorted(), ['dotfiles', 'far', 'near'])
  })

  it('refuses folders, pipes and links that lead to each other, and says what to do', (t) => {
    const folder = freshFolder(t)
    mkdirSync(join(folder, 'folder'))
    symlinkSync('loop', join(folder, 'loop'))
    spawnSync('mkfifo', [join(folder, 'pipe')])
    for (const name of ['folder', 'loop', 'pipe', 'missing/a.txt'])
      assert.throws(() => replaceFile(join(folder, name), 'text'), { code: 'not_written', message: /do this: / }, name)
    assert.deepEqual(readdirSync(folder).toSorted(), ['folder', 'loop', 'pipe'])
  })

  it('removes the drafts that killed processes left of this file, and no others', (t) => {
    const folder = freshFolder(t)
    const { pid: ended } = spawnSync(process.execPath, ['-e', ''])
    const left = [`.a.txt.${ended}-0-0.draft`, `.a.txt.${process.pid}-0-0.draft`]
    const others = [`.a.txt.${process.ppid}-0-0.draft`, `.b.txt.${ended}-0-0.draft`, '.a.txt.draft', 'a.txt.draft']
    for (const name of [...left, ...others]) writeFileSync(join(folder, name), 'half')
    replaceFile(join(folder, 'a.txt'), 'text')
    assert.deepEqual(readdirSync(folder).toSorted(), [...others, 'a.txt'].toSorted())
    assert.ok(left.every(isDraft))
  })

  it('never writes to a link in the place of its draft', (t) => {
    const folder = freshFolder(t)
    writeFileSync(join(folder, 'precious'), 'mine')
    symlinkSync('precious', join(folder, `.a.txt.${process.ppid}-0-0.draft`))
    symlinkSync('precious', join(folder, `.a.txt.${process.pid}-0-0.draft`))
    symlinkSync('precious', join(folder, `.a.txt.${process.pid}-7-0.draft`))
    replaceFile(join(folder, 'a.txt'), 'text')
    assert.equal(readFileSync(join(folder, 'precious'), 'utf8'), 'mine')
  })

  it('writes names of 255 bytes', (t) => {
    const file = join(freshFolder(t), '长'.repeat(85))
    replaceFile(file, 'one')
    replaceFile(file, 'two')
    assert.equal(readFileSync(file, 'utf8'), 'two')
  })
})

describe('writeNewFile', () => {
  it('creates a file, and refuses a name that is in use, also by a link to nothing', (t) => {
    const folder = freshFolder(t)
    writeNewFile(join(folder, 'a.txt'), 'one', { mode: 0o644 })
    symlinkSync('nothing', join(folder, 'link'))
    for (const name of ['a.txt', 'link'])
      assert.throws(() => writeNewFile(join(folder, name), 'two'), { code: 'conflict' }, name)
    assert.deepEqual([readFileSync(join(folder, 'a.txt'), 'utf8'), modeOf(join(folder, 'a.txt'))], ['one', 0o644])
    assert.deepEqual(readdirSync(folder), ['a.txt', 'link'])
  })
})

describe('appendToFile', () => {
  it('adds to the end, and creates the file', (t) => {
    const file = join(freshFolder(t), 'log')
    for (const line of ['one\n', 'two\n']) appendToFile(file, line)
    assert.equal(readFileSync(file, 'utf8'), 'one\ntwo\n')
  })
})

describe('kept versions', () => {
  it('keeps the content before, each content once, the last twenty, for the owner alone', (t) => {
    const folder = freshFolder(t)
    const file = join(folder, 'a.yaml')
    const versions = join(folder, 'versions', 'a.yaml')
    keepVersion(file, versions)
    for (let n = 0; n < 30; n += 1) replaceKeptFile(file, `content ${n}`, { versions })
    const kept = readdirSync(versions)
    assert.equal(kept.length, 20)
    assert.match(kept.at(-1) ?? '', /^0029-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.yaml$/)
    assert.ok(kept.every((name) => modeOf(join(versions, name)) === 0o600))
    assert.equal(lstatSync(versions).mode & 0o777, 0o700)
    const newest = (): string => readFileSync(findVersion(versions, () => true) ?? '', 'utf8')
    assert.equal(newest(), 'content 28')
    replaceKeptFile(file, 'content 12', { versions })
    replaceKeptFile(file, 'content 31', { versions })
    assert.equal(newest(), 'content 12')
    keepVersion(file, versions)
    keepVersion(file, versions)
    const contents = readdirSync(versions).map((name) => readFileSync(join(versions, name), 'utf8'))
    assert.equal(new Set(contents).size, 20)
    assert.equal(
      findVersion(versions, (text) => text === 'none'),
      undefined,
    )
  })
})
