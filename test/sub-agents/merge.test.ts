/** The files of sub-agents: merged into the parent's workspace, path by path; what cannot be merged is a conflict. */

import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { createWorkspaceSnapshots } from '../../src/adapters/envs/snapshots/snapshots.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import {
  calling,
  finishing,
  openFamily,
  resultsRead,
  spawning,
  WAIT_FOR_AGENTS,
  workspaceOf,
} from '../support/agent-family.ts'
import { freshFolder } from '../support/open-app.ts'

const LINES = 'one\ntwo\nthree\nfour\nfive\n'

describe('the merge of a copied workspace', () => {
  /** An original and a copy with the same files, and the snapshot of the base. */
  async function twoWorkspaces(t: TestContext, files: Readonly<Record<string, string>>) {
    const home = freshFolder(t)
    const [into, from] = [join(home, 'original'), join(home, 'copy')]
    const put = (root: string, path: string, text: string): void => {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    for (const root of [into, from]) {
      mkdirSync(root)
      for (const [path, text] of Object.entries(files)) put(root, path, text)
    }
    const open = () => createWorkspaceSnapshots({ folder: join(home, 'v.git'), clock: systemClock, warn: assert.fail })
    const snapshots = open()
    await snapshots.take(from, { run_id: 'child-run', turn: 0, before: true })
    const merge = (with_ = snapshots) => with_.merge({ run_id: 'child-run', from, into })
    const read = (path: string): string => readFileSync(join(into, path), 'utf8')
    return { into, from, put, merge, read, open, snapshots }
  }

  test('changes, additions, removals, links and permission bits are taken over; others are left alone', async (t) => {
    const two = await twoWorkspaces(t, {
      'a.txt': LINES,
      'gone/b.txt': 'b',
      'own.txt': 'o',
      'run.sh': 'x',
      'c/d.txt': '1',
    })
    two.put(two.from, 'a.txt', LINES.replace('two', 'TWO'))
    two.put(two.from, 'new/deep/e.txt', 'e')
    rmSync(join(two.from, 'gone'), { recursive: true })
    chmodSync(join(two.from, 'run.sh'), 0o750)
    symlinkSync('a.txt', join(two.from, 'link'))
    rmSync(join(two.from, 'c'), { recursive: true })
    two.put(two.from, 'c', 'now a file')
    two.put(two.from, '.git/HEAD', 'not merged')
    two.put(two.into, 'own.txt', 'changed by the parent')
    two.put(two.into, 'a.txt', LINES.replace('five', 'FIVE'))
    const merged = await two.merge()
    assert.deepEqual(merged, {
      files: ['a.txt', 'c', 'c/d.txt', 'gone/b.txt', 'link', 'new/deep/e.txt', 'run.sh'],
      conflicts: [],
    })
    assert.equal(two.read('a.txt'), LINES.replace('two', 'TWO').replace('five', 'FIVE'))
    assert.deepEqual(
      [two.read('own.txt'), two.read('new/deep/e.txt'), two.read('c')],
      ['changed by the parent', 'e', 'now a file'],
    )
    assert.deepEqual([existsSync(join(two.into, 'gone')), existsSync(join(two.into, '.git'))], [false, false])
    assert.equal(statSync(join(two.into, 'run.sh')).mode & 0o777, 0o750)
    assert.ok(lstatSync(join(two.into, 'link')).isSymbolicLink())
    const spans = await two.snapshots.spans(['merge-child-run'])
    assert.equal(spans.length, 1)
  })

  test('what both changed differently stays as it is, and the other version is kept beside it', async (t) => {
    const two = await twoWorkspaces(t, { 'a.txt': LINES, 'b.bin': '\0one', 'gone.txt': 'here' })
    for (const [root, word] of [
      [two.into, 'OURS'],
      [two.from, 'THEIRS'],
    ] as const) {
      two.put(root, 'a.txt', LINES.replace('three', word))
      two.put(root, 'b.bin', `\0${word}`)
      two.put(root, 'both/new.txt', word)
    }
    two.put(two.into, 'gone.txt', 'changed')
    rmSync(join(two.from, 'gone.txt'))
    const merged = await two.merge()
    assert.deepEqual(merged?.files, [])
    assert.deepEqual(merged?.conflicts, [
      { path: 'a.txt', kept_at: '.conflicts/child-ru/a.txt' },
      { path: 'b.bin', kept_at: '.conflicts/child-ru/b.bin' },
      { path: 'both/new.txt', kept_at: '.conflicts/child-ru/both/new.txt' },
      { path: 'gone.txt', kept_at: null },
    ])
    assert.deepEqual(
      [two.read('a.txt'), two.read('.conflicts/child-ru/a.txt'), two.read('gone.txt')],
      [LINES.replace('three', 'OURS'), LINES.replace('three', 'THEIRS'), 'changed'],
    )
  })

  test('a repeated merge changes nothing, also if lines were added in one place; later changes are kept', async (t) => {
    const two = await twoWorkspaces(t, { 'list.txt': 'head\n', 'other.txt': LINES })
    two.put(two.from, 'list.txt', 'head\ntheirs\n')
    two.put(two.from, 'other.txt', LINES.replace('one', 'ONE'))
    two.put(two.into, 'list.txt', 'head\nours\n')
    const first = await two.merge()
    assert.equal(two.read('list.txt'), 'head\nours\ntheirs\n')
    // As if the process had been killed before it wrote the second file, and the parent went on.
    two.put(two.into, 'other.txt', LINES.replace('five', 'FIVE'))
    assert.deepEqual(await two.merge(two.open()), first)
    assert.equal(two.read('list.txt'), 'head\nours\ntheirs\n')
    assert.equal(two.read('other.txt'), LINES.replace('one', 'ONE').replace('five', 'FIVE'))
  })

  test('a link in the place of a folder is not followed: the file is a conflict', async (t) => {
    const two = await twoWorkspaces(t, { 'sub/a.txt': 'a' })
    const outside = freshFolder(t, 'outside')
    two.put(two.from, 'sub/b.txt', 'b')
    rmSync(join(two.into, 'sub'), { recursive: true })
    symlinkSync(outside, join(two.into, 'sub'))
    const merged = await two.merge()
    assert.equal(existsSync(join(outside, 'b.txt')), false)
    assert.deepEqual(merged?.conflicts, [{ path: 'sub/b.txt', kept_at: '.conflicts/child-ru/sub/b.txt' }])
  })
})

describe('the files of sub-agents', () => {
  test('O9: two children edit one file: one is merged, the other a conflict that the parent reads', async (t) => {
    const edit = (to: string) => [
      calling('view_file', { path: 'plan.txt' }),
      calling('edit_file', { path: 'plan.txt', old: 'three', new: to }),
      finishing(to),
    ]
    const { app, run } = await openFamily(t, {
      lead: [
        calling('create_file', { path: 'plan.txt', content: LINES }),
        spawning('first: edit', 'second: edit', 'third: add'),
        WAIT_FOR_AGENTS,
        WAIT_FOR_AGENTS,
        WAIT_FOR_AGENTS,
        calling('view_file', { path: 'third/own.txt' }),
      ],
      'first:': edit('FIRST'),
      'second:': edit('SECOND'),
      'third:': [calling('create_file', { path: 'third/own.txt', content: 'mine' })],
    })
    const { session_id, status } = await run()
    assert.equal(status, 'done')
    const results = await resultsRead(app, session_id)
    const [merged, refused, third] = ['files', 'conflicts', 'third/own.txt'].map((what) =>
      results.find((result) =>
        what === 'third/own.txt'
          ? JSON.stringify(result.files).includes(what)
          : JSON.stringify(result[what]).includes('plan.txt'),
      ),
    )
    assert.ok(merged && refused && third && merged !== refused)
    const [{ kept_at } = { kept_at: '' }] = refused.conflicts as { path: string; kept_at: string }[]
    const text = (path: string) => workspaceOf(app, session_id, path).then((file) => readFileSync(file, 'utf8'))
    assert.equal(await text('plan.txt'), LINES.replace('three', String(merged.answer)))
    assert.equal(await text(kept_at), LINES.replace('three', String(refused.answer)))
    assert.equal(await text('third/own.txt'), 'mine')
  })

  test('the files of a child that failed stay in its own workspace, and its result says so', async (t) => {
    const { app, run, children } = await openFamily(
      t,
      {
        lead: [spawning('half: write'), WAIT_FOR_AGENTS],
        'half:': [
          calling('create_file', { path: 'half.txt', content: 'half' }),
          ...Array.from({ length: 9 }, () => calling('list_files')),
        ],
      },
      { yaml: 'budget: { per_dispatch_calls: 4 }\n' },
    )
    const { session_id } = await run()
    const [result] = await resultsRead(app, session_id)
    assert.equal(result?.status, 'failed')
    assert.match(String(result?.not_merged), /its files stay in its own workspace/)
    assert.equal(existsSync(await workspaceOf(app, session_id, 'half.txt')), false)
    const [child] = await children()
    assert.equal(existsSync(await workspaceOf(app, child?.session_id ?? '', 'half.txt')), true)
  })
})
