/** Files that people wrote and commands replace: their last versions are kept, and come back. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { tireless } from '../support/command-line.ts'
import { freshFolder, openApp } from '../support/open-app.ts'

test('E11: a damaged secrets.json names its last whole version, which one command brings back', async (t) => {
  const home = freshFolder(t)
  const app = await openApp(t, { home })
  for (const name of ['ONE', 'TWO', 'THREE']) await app.run('secrets set', { name, value: `value-of-${name}-123` })
  await app.close()
  const file = join(home, 'secrets.json')
  const versions = join(home, 'secrets.versions')
  for (const name of readdirSync(versions)) assert.equal(statSync(join(versions, name)).mode & 0o777, 0o600)
  assert.equal(statSync(versions).mode & 0o777, 0o700)
  truncateSync(file, 100)
  const { exit, stderr } = await tireless(home, 'secrets', 'list')
  assert.equal(exit, 1)
  const [, command = ''] = /bring back the last version that is whole: (cp .*)/.exec(stderr) ?? []
  execFileSync('sh', ['-c', command])
  const listed = await tireless(home, 'secrets', 'list')
  assert.match(listed.stdout, /ONE[\s\S]*TWO/)
})

test('E17: a backup has versions of secrets only with --secrets', async (t) => {
  const home = freshFolder(t)
  const app = await openApp(t, { home })
  for (const name of ['ONE', 'TWO']) await app.run('secrets set', { name, value: `value-of-${name}-123` })
  const folder = freshFolder(t, 'backup')
  const namesIn = async (name: string, secrets: boolean): Promise<readonly string[]> => {
    await app.run('backup', { dir: join(folder, name), secrets })
    return readdirSync(join(folder, name)).filter((each) => each.startsWith('secrets'))
  }
  assert.deepEqual(await namesIn('without', false), [])
  assert.deepEqual(await namesIn('with', true), ['secrets.json', 'secrets.versions'])
})

test('E11: commands keep the settings and texts of agents that they replace, each content once', async (t) => {
  const home = freshFolder(t)
  mkdirSync(join(home, 'agents', 'writer'), { recursive: true })
  writeFileSync(join(home, 'agents', 'writer', 'agent.yaml'), 'priority: 3\n')
  writeFileSync(join(home, 'agents', 'writer', 'role.md'), 'I write.\n')
  const app = await openApp(t, { home, yaml: '# mine\nsandbox: off\n' })
  const versionsOf = (file: string): readonly string[] => {
    const folder = join(home, 'versions', 'files', file)
    return readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  }
  for (const value of ['5', '6', '5', '6']) await app.run('budget set', { key: 'per_day_usd', value })
  assert.equal(versionsOf('tireless.yaml')[0], '# mine\nsandbox: off\n')
  assert.equal(versionsOf('tireless.yaml').length, 3)
  await app.run('agent edit', { id: 'writer', role: 'I write more.', self: 'I am new.' })
  await app.run('agent edit', { id: 'writer', prompt: 'I write at once.' })
  await app.run('agent edit', { id: 'writer', role: '', self: '' })
  assert.deepEqual(versionsOf('agents/writer/role.md'), ['I write.\n', 'I write more.'])
  assert.deepEqual(versionsOf('agents/writer/self.md'), ['I am new.'])
  assert.equal(versionsOf('agents/writer/agent.yaml')[0], 'priority: 3\n')
  assert.equal(existsSync(join(home, 'agents', 'writer', 'role.md')), false)
})

test('E11: a linked tireless.yaml stays a link; an invalid one names its last version', async (t) => {
  const home = freshFolder(t)
  const dotfiles = freshFolder(t, 'dotfiles')
  const source = join(dotfiles, 'tireless.yaml')
  writeFileSync(source, '# mine\nsandbox: off\n', { mode: 0o644 })
  symlinkSync(source, join(home, 'tireless.yaml'))
  const app = await openApp(t, { home })
  await app.run('budget set', { key: 'per_day_usd', value: '5' })
  await app.close()
  assert.ok(lstatSync(join(home, 'tireless.yaml')).isSymbolicLink())
  assert.match(readFileSync(source, 'utf8'), /per_day_usd: 5/)
  assert.equal(statSync(source).mode & 0o777, 0o644)
  writeFileSync(source, 'sandbox: [off\n')
  const { exit, stderr } = await tireless(home, 'config', 'check')
  assert.equal(exit, 1)
  const [, kept = ''] = /as it was before the last command that changed it: (\S+)/.exec(stderr) ?? []
  assert.equal(readFileSync(kept, 'utf8'), '# mine\nsandbox: off\n')
})
