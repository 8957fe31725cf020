import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { createGit, gitWithoutSandbox } from '../envs/git.ts'
import { describeGitChanges, gitFingerprint } from '../envs/git-changes.ts'
import { createPathWatch, type PathWatch } from './watched-paths.ts'

const UNCONFINED = gitWithoutSandbox({ PATH: process.env.PATH, HOME: '/nowhere' })

let base: string
let watch: PathWatch
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'tireless-watch-'))
  watch = createPathWatch(base, {
    fingerprint: (folder) => gitFingerprint(folder, UNCONFINED),
    describeChanges: (folder, since) => describeGitChanges(folder, UNCONFINED, since),
  })
})
afterEach(() => rmSync(base, { recursive: true }))

const put = (name: string, text: string): void => writeFileSync(join(base, name), text)

describe('E5: paths that an agent watches', () => {
  test('E5: the fingerprint changes when a file is added or changed; excluded files do not count', async () => {
    mkdirSync(join(base, 'in'))
    const fingerprint = (): Promise<string> => watch.fingerprint([{ path: 'in', except: ['INDEX.md'] }])
    const fingerprints = [await fingerprint()]
    put('in/a.txt', 'a')
    fingerprints.push(await fingerprint())
    put('in/a.txt', 'ab')
    fingerprints.push(await fingerprint())
    assert.equal(new Set(fingerprints).size, 3)
    put('in/INDEX.md', 'x')
    assert.equal(await fingerprint(), fingerprints[2])
  })

  test('E4: the survey lists files, new ones first; an old file moved into the folder counts as new', async () => {
    mkdirSync(join(base, 'in'))
    put('in/b.txt', 'bb')
    const first = await watch.survey(['in'], undefined)
    assert.match(first.text, /in: 1 file, 1 new or changed\n- new or changed: b\.txt, 2 bytes, \d{4}-/)
    assert.match((await watch.survey(['in'], first.marks)).text, /in: 1 file, 0 new or changed\n- b\.txt, 2 bytes/)
    put('in/a.txt', 'a')
    utimesSync(join(base, 'in/a.txt'), 1, 1)
    const later = { ...first.marks, newest: first.marks.newest - 1 }
    assert.match((await watch.survey(['in'], later)).text, /in: 2 files, [12] new or changed\n- new or changed: a\.txt/)
  })

  test('E4: the survey names at most 200 files and says what is missing', async () => {
    mkdirSync(join(base, 'in'))
    for (let i = 0; i < 230; i += 1) put(`in/${i}`, '')
    const { text } = await watch.survey(['in', 'gone', { nothing: 1 }], undefined)
    assert.equal(text.split('\n').filter((line) => line.startsWith('- new')).length, 200)
    assert.match(text, /- … and 30 more\n\n"gone" cannot be read: ENOENT\n\nnothing to watch: [^\n]*$/)
  })

  test('E4: a git work tree: the latest commits first, later only new ones, and uncommitted changes', async () => {
    const git = createGit({ top: base, gitFolder: join(base, '.git'), common: join(base, '.git') }, UNCONFINED, {
      ...{ GIT_AUTHOR_NAME: 'Ann', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'Ann', GIT_COMMITTER_EMAIL: 'a@b' },
    })
    const commit = async (subject: string): Promise<void> => {
      put('f.txt', subject)
      await git(['add', '-A'])
      assert.equal((await git(['commit', '-m', subject])).ok, true)
    }
    assert.match((await watch.survey([{ git: '.' }], undefined)).text, /not a git work tree, or one without commits/)
    await git(['init', '-b', 'main'])
    await commit('one')
    const first = await watch.survey([{ git: '.' }], undefined)
    assert.match(
      first.text,
      /branch main, at \w{10}\)\nThe latest of 1 commits:\n- \w+ \d{4}-\S+ Ann: one\n 1 file changed/,
    )
    const before = await watch.fingerprint([{ git: '.' }])
    await commit('two')
    await commit('three')
    assert.notEqual(await watch.fingerprint([{ git: '.' }]), before)
    put('f.txt', 'changed')
    const { text, marks } = await watch.survey([{ git: '.' }], first.marks)
    assert.match(text, /2 new commits since \w{10}:\n- \w+ \S+ Ann: three\n.*\n- \w+ \S+ Ann: two\n/)
    assert.match(text, /1 uncommitted changes:\n- {2}M f\.txt$/)
    assert.match((await watch.survey([{ git: '.' }], marks)).text, /No new commits\./)
    const lost = { newest: 0, heads: { [base]: '0'.repeat(40) } }
    assert.match(
      (await watch.survey([{ git: '.' }], lost)).text,
      /history was rewritten\. The latest commits:\n- \w+ .*three/,
    )
  })
})
