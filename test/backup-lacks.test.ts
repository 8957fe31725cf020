/** `backup` includes what is the owner's, or names it with its size; `restore` says what has to be brought along. */

import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { render } from '../src/cli/views/views.ts'
import type { NotIncluded } from '../src/domain/not-included.ts'
import { type Backup, homeWithOneRun } from './support/backups.ts'
import { startKernelIn, tirelessJson } from './support/command-line.ts'
import { freshFolder, openApp } from './support/open-app.ts'

interface Restored {
  readonly exit: number | null
  readonly notes: readonly string[]
  readonly to_bring: readonly string[]
  readonly not_included: readonly NotIncluded[]
}

const kindsOf = (all: readonly NotIncluded[]) =>
  all.map(({ kind, path, bytes }) => ({ kind, path, bytes })).filter(({ kind }) => kind !== 'log')

function write(path: string, text: string): void {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
}

/** A home whose agent's folder and one workspace are links to other disks, and which has more that is not plain. */
async function linkedHome(t: TestContext) {
  const [home, outside] = [await homeWithOneRun(t, 'linked'), freshFolder(t, 'outside')]
  write(join(outside, 'dotfiles/writer/agent.yaml'), 'prompt: write\n')
  write(join(outside, 'dotfiles/writer/role.md'), '12345')
  write(join(outside, 'bigdisk/w/results/a.bin'), 'x'.repeat(3000))
  mkdirSync(join(home, 'agents'), { recursive: true })
  symlinkSync(join(outside, 'dotfiles/writer'), join(home, 'agents/writer'))
  symlinkSync(join(outside, 'bigdisk/w'), join(home, 'workspaces/w'))
  write(join(home, 'sandbox/homes/abc/keep.txt'), 'kept')
  write(join(home, 'sandbox/taken/taken-1/files/.git/hooks/pre-commit'), 'echo')
  write(join(home, 'sandbox/etc/passwd'), 'made again')
  return { home, outside }
}

test('E17: linked folders and folders outside are named with their sizes; restore says what to bring', async (t) => {
  const { home, outside } = await linkedHome(t)
  const project = join(outside, 'project')
  mkdirSync(project)
  const task = ['Create made.md with the text "outside".', '--workspace', project]
  assert.equal((await tirelessJson(home, 'run', ...task)).exit, 0)
  const dir = join(freshFolder(t, 'backup'), 'b')
  const made = await tirelessJson<Backup>(home, 'backup', dir)
  const expected = [
    { kind: 'workspace', path: project, bytes: 7 },
    { kind: 'link', path: 'agents/writer', bytes: 19 },
    { kind: 'link', path: 'workspaces/w', bytes: 3000 },
  ] as const
  const found = kindsOf(made.not_included)
  for (const one of expected)
    assert.deepEqual(
      found.find(({ path }) => path === one.path),
      one,
    )
  assert.ok(made.skipped.includes(`${project}: a workspace outside of the home, 7 bytes`))
  assert.ok(made.skipped.some((line) => line.startsWith(`workspaces/w: a link to ${outside}/bigdisk/w;`)))
  assert.deepEqual(JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8')).not_included, made.not_included)

  const restored = await tirelessJson<Restored>(freshFolder(t, 'restored'), 'restore', dir)
  assert.equal(restored.exit, 0)
  assert.deepEqual(restored.not_included, made.not_included)
  assert.deepEqual(
    restored.to_bring.map((line) => line.split(':')[0]),
    [project, 'agents/writer', 'workspaces/w'],
  )
})

test('E17: what agents keep in their ~ and what was taken from them is included and restored', async (t) => {
  const { home } = await linkedHome(t)
  const dir = join(freshFolder(t, 'backup'), 'b')
  const made = await tirelessJson<Backup>(home, 'backup', dir)
  assert.deepEqual(
    made.parts.find(({ name }) => name === 'sandbox'),
    { name: 'sandbox', files: 2, bytes: 8 },
  )
  assert.ok(!existsSync(join(dir, 'sandbox/etc')))
  const other = freshFolder(t, 'restored')
  write(join(other, 'sandbox/homes/old/mine.txt'), 'of the home before')
  const { exit, before } = await tirelessJson<{ before: string }>(other, 'restore', dir)
  assert.equal(exit, 0)
  assert.equal(readFileSync(join(other, 'sandbox/homes/abc/keep.txt'), 'utf8'), 'kept')
  assert.equal(readFileSync(join(other, 'sandbox/taken/taken-1/files/.git/hooks/pre-commit'), 'utf8'), 'echo')
  assert.equal(readFileSync(join(before, 'sandbox/homes/old/mine.txt'), 'utf8'), 'of the home before')
})

test('E17: a backup of a version before, without what agents keep in their ~, leaves that of the home', async (t) => {
  const home = await homeWithOneRun(t, 'small')
  const dir = join(freshFolder(t, 'backup'), 'b')
  await tirelessJson<Backup>(home, 'backup', dir)
  const file = join(dir, 'manifest.json')
  const { not_included: _, ...manifest } = JSON.parse(readFileSync(file, 'utf8'))
  for (const part of ['files', 'folders'])
    manifest[part] = manifest[part].filter(({ path }: { path: string }) => !path.startsWith('sandbox'))
  writeFileSync(file, JSON.stringify(manifest))
  write(join(home, 'sandbox/homes/abc/keep.txt'), 'kept')
  const restored = await tirelessJson<Restored>(home, 'restore', dir)
  assert.deepEqual([restored.exit, restored.to_bring], [0, []])
  assert.equal(readFileSync(join(home, 'sandbox/homes/abc/keep.txt'), 'utf8'), 'kept')
})

test('E17: --follow-links copies the content of linked folders, of no link that agents may have made', async (t) => {
  const { home, outside } = await linkedHome(t)
  writeFileSync(join(outside, 'secret.txt'), 'of the owner')
  symlinkSync(join(outside, 'secret.txt'), join(outside, 'bigdisk/w/results/stolen'))
  symlinkSync('/usr/bin/env', join(outside, 'bigdisk/w/results/python'))
  // A link to the folder around the home would copy the home into itself.
  symlinkSync(join(home, '..'), join(home, 'agents/around'))
  const dir = join(freshFolder(t, 'backup'), 'b')
  const made = await tirelessJson<Backup>(home, 'backup', dir, '--follow-links')
  assert.equal(made.exit, 0)
  assert.equal(readFileSync(join(dir, 'agents/writer/role.md'), 'utf8'), '12345')
  assert.ok(lstatSync(join(dir, 'workspaces/w')).isDirectory())
  assert.ok(lstatSync(join(dir, 'workspaces/w/results/stolen')).isSymbolicLink())
  assert.deepEqual(
    made.not_included.filter(({ kind }) => kind === 'link').map(({ path }) => path),
    ['agents/around', 'workspaces/w/results/stolen'],
  )
  const other = freshFolder(t, 'restored')
  assert.equal((await tirelessJson(other, 'restore', dir)).exit, 0)
  assert.equal(readFileSync(join(other, 'workspaces/w/results/a.bin'), 'utf8').length, 3000)
})

test('O7: a link with an absolute path of the home leads into the restored one', async (t) => {
  const home = await homeWithOneRun(t, 'small')
  write(join(home, 'workspaces/real/a.txt'), 'a')
  symlinkSync(join(home, 'workspaces/real'), join(home, 'workspaces/other-name'))
  const dir = join(freshFolder(t, 'backup'), 'b')
  const made = await tirelessJson<Backup>(home, 'backup', dir)
  assert.deepEqual(kindsOf(made.not_included), [])
  const other = freshFolder(t, 'restored')
  assert.equal((await tirelessJson(other, 'restore', dir)).exit, 0)
  assert.equal(readlinkSync(join(other, 'workspaces/other-name')), join(other, 'workspaces/real'))
})

test('E17: secrets, work trees and what was kept of a home before are named, each with its size', async (t) => {
  const home = await homeWithOneRun(t, 'small')
  const app = await openApp(t, { home })
  await app.run('secrets set', { name: 'KEY', value: 'a secret value' })
  await app.close()
  const repository = join(freshFolder(t, 'project'), '.git')
  write(join(repository, 'worktrees/w/HEAD'), 'ref')
  write(join(home, 'workspaces/tree/.git'), `gitdir: ${repository}/worktrees/w\n`)
  write(join(home, 'before-restore-then/workspaces/w/a.txt'), 'a')
  const dir = join(freshFolder(t, 'backup'), 'b')
  const made = await tirelessJson<Backup>(home, 'backup', dir)
  const found = kindsOf(made.not_included).map(({ kind, path }) => `${kind} ${path}`)
  assert.deepEqual(found, ['earlier before-restore-then', 'secrets secrets.json', 'repository workspaces/tree/.git'])
  assert.ok(made.not_included.every(({ bytes }) => bytes !== null && bytes > 0))
  const shown = render('backup', made)
  assert.match(shown, /Not in the backup:\n {2}before-restore-then: .*, 1 bytes\n/)
  assert.match(shown, /workspaces\/tree\/\.git: a git work tree of the repository .*, which is outside of the home/)
})

test('E17: profiles of browsers that are open are named; files that the user may not read are, too', async (t) => {
  const home = await homeWithOneRun(t, 'small')
  await startKernelIn(t, home)
  write(join(home, 'browser/profile/Cookies'), '123')
  const closed = join(home, 'workspaces/small/closed.txt')
  write(closed, 'closed')
  const dir = join(freshFolder(t, 'backup'), 'b')
  if (process.getuid?.() !== 0) chmodSync(closed, 0)
  const made = await tirelessJson<Backup>(home, 'backup', dir)
  const expected = [{ kind: 'browser', path: 'browser', bytes: 3 }] as { kind: string; path: string; bytes: number }[]
  if (process.getuid?.() !== 0) expected.push({ kind: 'unreadable', path: 'workspaces/small/closed.txt', bytes: 6 })
  assert.deepEqual(kindsOf(made.not_included), expected)
})
