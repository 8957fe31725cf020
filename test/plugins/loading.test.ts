/** Plugins of the configuration: loaded as they were approved, refused otherwise. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createApp } from '../../src/app.ts'
import { asTirelessError, type TirelessError } from '../../src/domain/error.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { advanceUntilDone, freshFolder, journalOf, openApp, replayIn, runTaskIn } from '../support/open-app.ts'
import {
  approvePlugin,
  GREETER,
  greeterFiles,
  manifestOf,
  openApproved,
  pluginHome,
  withoutPlugins,
  writeFiles,
} from '../support/plugin-homes.ts'

const greeting = () => scriptedModel([{ calls: [{ tool: 'greet', args: { name: 'Ada' } }] }, { text: 'done' }])

const refusal = (code: string, message: RegExp) => (error: TirelessError) => {
  assert.match(error.message, message)
  assert.equal(error.code, code)
  return true
}

test('K1, Q18: an approved plugin of the configuration adds its tool; run and replay use it', async (t) => {
  const home = pluginHome(t)
  const app = await openApproved(t, home, { model: greeting() })
  const { session_id, dispatch_id, status } = await runTaskIn(app)
  assert.equal(status, 'done')
  const results = (await journalOf(app, session_id)).flatMap((r) => (r.kind === 'call_settled' ? [r.result] : []))
  assert.equal(results[0]?.content, 'Good morning, Ada')
  assert.equal((await replayIn(app, dispatch_id)).identical, true)
  const { items } = await app.run('plugins list', {})
  assert.partialDeepStrictEqual(items, [
    { name: 'greeter', version: '1.0.0', state: 'loaded', trust: 'trusted', provides: { tools: ['greet'] }, why: null },
  ])
})

test('a home with a plugin that is not approved is not opened; the error names the remedy', async (t) => {
  const home = pluginHome(t)
  await assert.rejects(openApp(t, { home }), refusal('plugin_unapproved', /plugin greeter: .*plugins approve greeter/))
  const { items } = await withoutPlugins(home, (app) => app.run('plugins list', {}))
  assert.equal(items[0]?.state, 'unapproved')
})

test('one byte changed after the approval: refused with the name of the file, until approved again', async (t) => {
  const home = pluginHome(t, greeterFiles({ 'data/notes.txt': 'a' }))
  await (await openApproved(t, home)).close()
  for (const [file, what] of [
    ['data/notes.txt', /data\/notes\.txt differs/],
    ['index.ts', /differs/],
    ['new.js', /new\.js is new/],
  ] as const) {
    appendFileSync(join(home, 'plugins/greeter', file), ' ')
    await assert.rejects(openApp(t, { home }), refusal('plugin_unapproved', what))
    const { items } = await withoutPlugins(home, (app) => app.run('plugins list', {}))
    assert.equal(items[0]?.state, 'changed')
    await approvePlugin(home)
    await (await openApp(t, { home })).close()
  }
  rmSync(join(home, 'plugins/greeter/new.js'))
  await assert.rejects(openApp(t, { home }), refusal('plugin_unapproved', /new\.js is missing/))
})

test('what runs is what was compared: a change while the plugin loads has no effect', async (t) => {
  const late = `export default { name: 'late', needs: ['ids'], setup: async (host) => {
    const { writeFileSync } = await import('node:fs')
    writeFileSync(import.meta.dirname + '/part.js', 'export const text = "planted"')
    const { text } = await import('./part.js')
    globalThis.seenByLatePlugin = text
  } }`
  const files = { 'tireless-plugin.json': manifestOf({ name: 'late', entry: 'index.js', provides: {} }) }
  const home = pluginHome(t, { ...files, 'index.js': late, 'part.js': 'export const text = "approved"' })
  await openApproved(t, home, { name: 'late' })
  assert.equal((globalThis as { seenByLatePlugin?: string }).seenByLatePlugin, 'approved')
})

test('a plugin imports its own files and packages below its folder, and nothing else', async (t) => {
  const entry = (imports: string): string => `${imports}\nexport default { name: 'greeter', setup() {} }`
  const manifest = manifestOf({ entry: 'index.js', provides: {} })
  const allowed = [
    "import { x } from './lib/part.ts'",
    "import data from './data.json' with { type: 'json' }",
    "import dep from 'dep'",
    "import { join } from 'node:path'",
    "import { readFileSync } from 'fs'",
    "import { definePlugin } from 'tireless'",
    "if (x !== 1 || data.y !== 2 || dep !== 7 || !definePlugin || !join || !readFileSync) throw new Error('wrong')",
  ].join('\n')
  const files = {
    ...{ 'tireless-plugin.json': manifest, 'lib/part.ts': 'export const x: number = 1', 'data.json': '{"y":2}' },
    'node_modules/dep/package.json': '{"exports":{".":{"import":"./main.cjs"}}}',
    'node_modules/dep/main.cjs': 'module.exports = require("./inner")',
    'node_modules/dep/inner.js': 'module.exports = 7',
  }
  const home = pluginHome(t, { ...files, 'index.js': entry(allowed) })
  await (await openApproved(t, home)).close()
  writeFileSync(join(home, 'outside.js'), 'export const x = 1')
  for (const specifier of ['../../outside.js', 'yaml', './missing.js', join(home, 'outside.js')]) {
    writeFileSync(join(home, 'plugins/greeter/index.js'), entry(`import '${specifier}'`))
    const message = /plugin greeter: the plugin imports a file that is not part of it; got .*index\.js/
    await assert.rejects(openApproved(t, home), refusal('plugin_invalid', message), specifier)
  }
})

test('what a plugin adds beyond its manifest is refused', async (t) => {
  const home = pluginHome(t, greeterFiles({ 'tireless-plugin.json': manifestOf({ provides: { tools: ['other'] } }) }))
  const message = /plugin greeter: .*adds to tools what its manifest does not list; got greet; expected one of other/
  await assert.rejects(openApproved(t, home), refusal('plugin_invalid', message))
  const { items } = await withoutPlugins(home, (app) => app.run('plugins list', {}))
  assert.equal(items[0]?.state, 'failed')
  assert.match(items[0]?.why ?? '', message)
})

test('a single trusted file needs no manifest; its name is that of the file', async (t) => {
  const home = freshFolder(t)
  writeFileSync(join(home, 'hello.ts'), GREETER)
  writeFileSync(join(home, 'tireless.yaml'), 'plugins: [./hello.ts]\n')
  const app = await openApproved(t, home, { name: 'hello' })
  const { items } = await app.run('plugins list', {})
  assert.partialDeepStrictEqual(items, [{ name: 'hello', state: 'loaded', provides: { tools: ['greet'] } }])
  await app.close()
  writeFileSync(join(home, 'tireless.yaml'), 'plugins: [{ path: hello.ts, trust: sandboxed }]\n')
  await assert.rejects(openApp(t, { home }), refusal('plugin_invalid', /hello\.ts: the plugin has no manifest/))
})

test('a package of the home is a plugin; options and named secrets are passed to it', async (t) => {
  const home = freshFolder(t)
  const code = `export default ({ options, secrets }) => {
    globalThis.inputOfPlugin = { options, secrets }
    return { name: 'x' }
  }`
  const about = { name: '@me/weather', version: '2.0.0', main: 'main.js', type: 'module' }
  const tireless = { trust: 'trusted', provides: {}, needs: { secrets: ['CITY_KEY'] } }
  writeFiles(join(home, 'node_modules/@me/weather'), {
    'package.json': JSON.stringify({ ...about, tireless }),
    'main.js': code,
  })
  writeFileSync(join(home, 'tireless.yaml'), "plugins: [{ package: '@me/weather', options: { city: Bern } }]\n")
  await approvePlugin(home, '@me/weather')
  await assert.rejects(
    openApp(t, { home }),
    refusal('plugin_failed', /got CITY_KEY; do this: run tireless secrets set/),
  )
  await withoutPlugins(home, (app) => app.run('secrets set', { name: 'CITY_KEY', value: 'k-123456789' }))
  await openApp(t, { home })
  const { inputOfPlugin } = globalThis as { inputOfPlugin?: unknown }
  assert.deepEqual(inputOfPlugin, { options: { city: 'Bern' }, secrets: { CITY_KEY: 'k-123456789' } })
})

test('links, pipes, missing and huge plugins are refused with a reason', async (t) => {
  const home = pluginHome(t)
  const folder = join(home, 'plugins/greeter')
  const refused = (message: RegExp) => assert.rejects(createApp({ home }), refusal('plugin_invalid', message))
  symlinkSync('/etc/hosts', join(folder, 'link'))
  await refused(/link is neither a file nor a folder/)
  rmSync(join(folder, 'link'))
  execFileSync('mkfifo', [join(folder, 'pipe')])
  await refused(/pipe is neither a file nor a folder/)
  rmSync(join(folder, 'pipe'))
  writeFileSync(join(folder, 'big'), Buffer.alloc(17 * 1024 * 1024))
  await refused(/big is too large/)
  rmSync(folder, { recursive: true })
  await refused(/the plugin does not exist/)
  mkdirSync(folder)
  await refused(/no manifest/)
  writeFileSync(join(folder, 'tireless-plugin.json'), manifestOf({ provides: { nonsense: [] } }))
  await refused(/tireless-plugin\.json.*nonsense/)
  writeFileSync(join(home, 'tireless.yaml'), 'plugins: [nowhere]\n')
  await refused(/not installed; got nowhere.*npm install --prefix/)
})

test('a plugin that throws, hangs or exports nothing stops the start, and its name is in the error', async (t) => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['throw new Error("boom")', /plugin greeter: boom/],
    ['export default 42', /plugin greeter: .*exports no plugin; got (the number )?42/],
    ['export const x = 1', /plugin greeter: .*exports no plugin/],
    ['export default { name: "x", setup() { throw new Error("in set-up") } }', /plugin greeter: in set-up/],
    ['export default { name: "x", needs: ["nonsense"] }', /nonsense/],
    ['const a = = 1', /plugin greeter: .*Unexpected token/],
  ]
  const home = pluginHome(t, { 'tireless-plugin.json': manifestOf({ entry: 'index.js' }), 'index.js': '' })
  for (const [code, message] of cases) {
    writeFileSync(join(home, 'plugins/greeter/index.js'), code)
    await assert.rejects(openApproved(t, home), (error: TirelessError) => {
      assert.match(error.message, message)
      return /^plugin_/.test(error.code)
    })
  }
  writeFileSync(join(home, 'plugins/greeter/index.js'), 'await new Promise(() => {})')
  await approvePlugin(home)
  const clock = new FakeClock()
  const opening = openApp(t, { home, clock }).then(() => assert.fail('it was opened'), asTirelessError)
  const error = await advanceUntilDone(clock, opening)
  assert.match(error.message, /plugin greeter: did not finish within 30 seconds/)
  // The failed start holds nothing any more.
  const app = await openApp(t, { home, withoutPlugins: error })
  assert.equal((await app.run('status', {})).kernel.state, 'stopped')
})
