/** The verbs `plugins list|add|approve|remove`. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import type { Progress } from '../../src/commands/lib/progress.ts'
import { tireless, tirelessJson } from '../support/command-line.ts'
import { freshFolder, openApp } from '../support/open-app.ts'
import { GREETER, greeterFiles, manifestOf, pluginHome, withoutPlugins, writeFiles } from '../support/plugin-homes.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'

test('plugins add shows what the plugin may do, asks, then approves and configures it', async (t) => {
  const home = freshFolder(t)
  writeFileSync(join(home, 'tireless.yaml'), '# mine\nkernel: { id: k }\n')
  const place = freshFolder(t, 'project')
  const needs = { secrets: ['CITY_KEY'] }
  writeFiles(join(place, 'greeter'), greeterFiles({ 'tireless-plugin.json': manifestOf({ needs }) }))
  const app = await openApp(t, { home })
  const told: Progress[] = []
  const adding = app.run('plugins add', { source: './greeter', from: place }, (progress) => told.push(progress))
  await assert.rejects(adding, { code: 'confirmation_needed', message: /plugins add \.\/greeter --yes --digest/ })
  const [note] = told.flatMap((progress) => (progress.kind === 'note' ? [progress] : []))
  assert.match(note?.text ?? '', /greeter 1\.0\.0 .*all your rights.*adds: tools greet.*secrets: CITY_KEY/s)
  assert.match(note?.zh ?? '', /全部权限/)
  assert.doesNotMatch(readFileSync(join(home, 'tireless.yaml'), 'utf8'), /plugins/)
  const { plugin } = await app.run('plugins add', { source: './greeter', from: place, yes: true })
  assert.equal(plugin.state, 'approved')
  assert.match(readFileSync(join(home, 'tireless.yaml'), 'utf8'), /# mine\n[\s\S]*plugins:\n\s*- .*greeter\n/)
  await assert.rejects(app.run('plugins approve', { name: 'greeter', yes: true, digest: '00000000' }), {
    code: 'conflict',
  })
  await app.run('plugins remove', { name: 'greeter' })
  assert.deepEqual((await app.run('plugins list', {})).items, [])
  await assert.rejects(app.run('plugins approve', { name: 'greeter' }), { code: 'not_found' })
})

test('plugins add of a configured plugin keeps its options and its trust', async (t) => {
  const home = pluginHome(t)
  const entry = 'plugins: [{ path: ./plugins/greeter, trust: trusted, options: { city: Oslo } }]\n'
  writeFileSync(join(home, 'tireless.yaml'), entry)
  await withoutPlugins(home, (app) => app.run('plugins add', { source: './plugins/greeter', from: home, yes: true }))
  const { plugins } = parse(readFileSync(join(home, 'tireless.yaml'), 'utf8'))
  assert.deepEqual(plugins, [{ path: './plugins/greeter', trust: 'trusted', options: { city: 'Oslo' } }])
})

test('plugins add finds packages of the home and of the project, and a file without a slash', async (t) => {
  const home = freshFolder(t)
  const place = freshFolder(t, 'project')
  const about = (name: string): Record<string, string> => ({
    'package.json': JSON.stringify({ name, version: '1.0.0', tireless: { entry: 'index.ts', provides: {} } }),
    'index.ts': GREETER,
  })
  writeFiles(join(home, 'node_modules/ours'), about('ours'))
  writeFiles(join(place, 'node_modules/theirs'), about('theirs'))
  writeFileSync(join(place, 'single.ts'), GREETER)
  const app = await openApp(t, { home })
  for (const source of ['ours', 'theirs', 'single.ts'])
    await app.run('plugins add', { source, from: place, trust: 'trusted', yes: true })
  const { items } = await app.run('plugins list', {})
  assert.deepEqual(
    items.map(({ name, source }) => [name, source]),
    [
      ['ours', 'ours'],
      ['theirs', join(place, 'node_modules/theirs')],
      ['single', join(place, 'single.ts')],
    ],
  )
  await assert.rejects(app.run('plugins add', { source: 'nowhere', from: place }), /npm install --prefix .* nowhere/)
})

test('a changed plugin is refused by start, run and replay, and loaded after plugins approve', async (t) => {
  const home = pluginHome(t)
  assert.equal((await tireless(home, 'plugins', 'approve', 'greeter', '--yes')).exit, 0)
  appendFileSync(join(home, 'plugins/greeter/index.ts'), ' ')
  for (const args of [
    ['start', '--until-idle'],
    ['run', 'x'],
    ['replay', 'x'],
  ]) {
    const { exit, stderr } = await tireless(home, ...args)
    assert.equal(exit, 1)
    assert.match(stderr, /plugin_unapproved: plugin greeter: .*index\.ts differs.*tireless plugins approve greeter/)
  }
  const listed = await tireless(home, 'plugins', 'list')
  assert.match(listed.stdout, /greeter +changed since approval +trusted +tools: greet/)
  const unanswered = await tireless(home, 'plugins', 'approve', 'greeter')
  assert.equal(unanswered.exit, 2)
  assert.match(unanswered.stderr, /confirmation_needed/)
  assert.equal((await tireless(home, 'plugins', 'approve', 'greeter', '--yes')).exit, 0)
  assert.match((await tireless(home, 'plugins', 'list')).stdout, /greeter +loaded/)
})

test('plugins new writes a plugin of each kind whose test passes, and which can be added', async (t) => {
  const app = await openApp(t)
  const kinds = ['tool', 'gate', 'critic', 'channel', 'source', 'model', 'behaviour'] as const
  const written = await Promise.all(kinds.map((kind) => app.run('plugins new', { name: `my-${kind}`, kind })))
  const tests = written.map(({ folder }) => join(folder, 'index.test.ts'))
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const flags = ['--disable-warning=ExperimentalWarning', '--test', '--test-isolation=none']
  const { status, stdout } = spawnSync(process.execPath, [...flags, ...tests], { encoding: 'utf8', env })
  assert.equal(status, 0, stdout)
  assert.match(stdout, new RegExp(`pass ${kinds.length}`))
  for (const { folder } of written) await app.run('plugins add', { source: folder, trust: 'trusted', yes: true })
  const { items } = await app.run('plugins list', {})
  assert.deepEqual(new Set(items.map(({ state }) => state)), new Set(['approved']))
  const { root } = app.service('home')
  await app.close()
  const loaded = await openApp(t, { home: root })
  assert.ok(loaded.service('tools').all.has('my_tool'))
  await assert.rejects(loaded.run('plugins new', { name: 'my-tool' }), { code: 'conflict' })
})

test('the model of plugins new runs in a new home, within its cap and in the sandbox', {
  skip: WITHOUT_SANDBOX,
}, async (t) => {
  const home = freshFolder(t)
  const { folder } = await tirelessJson<{ folder: string }>(home, 'plugins', 'new', 'my-model', '--kind', 'model')
  assert.equal((await tireless(home, 'plugins', 'add', folder, '--yes')).exit, 0)
  assert.equal((await tireless(home, 'plugins', 'approve', 'my-model', '--yes')).exit, 0)
  const run = await tirelessJson(home, 'run', 'good morning', '--model', 'my_model/echo')
  assert.deepEqual([run.exit, run.status], [0, 'done'])
})
