/** `tireless.config.ts` of a home: the owner's own code. */

import assert from 'node:assert/strict'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TirelessError } from '../../src/domain/error.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { tireless } from '../support/command-line.ts'
import { freshFolder, openApp, replayIn, runTaskIn } from '../support/open-app.ts'
import { writeFiles } from '../support/plugin-homes.ts'

const MODULE = `
import { defineBehaviour, defineConfig, definePlugin } from 'tireless'
import { greet } from './tools/greet.ts'

const quiet = defineBehaviour<{ n: number }>({
  name: 'greeting',
  initState: () => ({ n: 0 }),
  buildSystemPrompt: () => ({ fixed: 'Greet.' }),
  decide: () => ({ kind: 'final', answer: 'greeted by my own behaviour' }),
})
const idle = definePlugin({ name: 'idle', setup() {} })
export default defineConfig({ tools: [greet], behaviours: [quiet], plugins: [idle] })
`
const TOOL = `
import { defineTool } from 'tireless'
import { z } from 'zod'
export const greet = defineTool({
  name: 'greet',
  description: 'Greets',
  args: z.strictObject({}),
  effect: () => ({ recovery: 'pure', reach: 'none' }),
  run: async () => ({ status: 'ok', content: 'good morning' }),
})
`

test('Q18: run, once, start and replay know the behaviours and tools of tireless.config.ts', async (t) => {
  const home = freshFolder(t)
  writeFiles(home, { 'tireless.config.ts': MODULE, 'tools/greet.ts': TOOL })
  chmodSync(join(home, 'tireless.config.ts'), 0o600)
  const ran = await tireless(home, 'run', 'Greet.', '--behaviour', 'greeting', '--json')
  assert.equal(ran.exit, 0, ran.stderr)
  const { answer, dispatch_id } = JSON.parse(ran.stdout)
  assert.equal(answer, 'greeted by my own behaviour')
  const replayed = await tireless(home, 'replay', dispatch_id, '--json')
  assert.equal(JSON.parse(replayed.stdout).identical, true, replayed.stderr)
  const model = scriptedModel([{ calls: [{ tool: 'greet', args: {} }] }, { text: 'done' }])
  const app = await openApp(t, { home, model, withOwnerModule: true })
  const { dispatch_id: second, status } = await runTaskIn(app)
  assert.equal(status, 'done')
  assert.equal((await replayIn(app, second)).identical, true)
})

const BROKEN: readonly (readonly [name: string, code: string, message: RegExp])[] = [
  ['tireless.config.ts', 'const a: number = 1\n\nthrow new Error("boom")', /tireless\.config\.ts:3: .*got boom/],
  ['tireless.config.ts', 'const a = 1\nenum X { A }', /tireless\.config\.ts:2: .*SyntaxError.*enum/],
  ['tireless.config.mjs', 'const a = 1\nconst b = = 2', /tireless\.config\.mjs:2: .*SyntaxError/],
  ['tireless.config.mjs', 'import "nowhere"', /tireless\.config\.mjs.*nowhere/],
  ['tireless.config.mjs', 'export default 42', /tireless\.config\.mjs: default: .*expected an object of defineConfig/],
  ['tireless.config.mjs', 'export default { tools: 42 }', /tireless\.config\.mjs: tools: .*expected a list/],
  [
    'tireless.config.mjs',
    'export default { toolz: [] }',
    /tireless\.config\.mjs: .*toolz.*expected one of plugins, tools/,
  ],
  ['tireless.config.mjs', 'export default { tools: [42] }', /tireless\.config\.mjs: tools: invalid entry in tools/],
  ['tireless.config.mjs', 'export default { plugins: [null] }', /this is not a plugin: null/],
]

test('a broken tireless.config.ts stops the start; the error names file and line', async (t) => {
  for (const [name, code, message] of BROKEN) {
    const home = freshFolder(t)
    writeFileSync(join(home, name), code, { mode: 0o600 })
    await assert.rejects(openApp(t, { home, withOwnerModule: true }), (error: TirelessError) => {
      assert.match(error.message, message)
      return /^plugin_/.test(error.code)
    })
    await (await openApp(t, { home })).close()
  }
})

test('a home with a broken module stays usable: plugins list, doctor and config check run', async (t) => {
  const home = freshFolder(t)
  writeFileSync(join(home, 'tireless.config.mjs'), 'throw new Error("boom")', { mode: 0o600 })
  const started = await tireless(home, 'start', '--until-idle')
  assert.equal(started.exit, 1)
  assert.match(started.stderr, /plugin_failed: .*tireless\.config\.mjs:1: .*boom/)
  for (const args of [['plugins', 'list'], ['status'], ['config', 'check']])
    assert.equal((await tireless(home, ...args)).exit, 0, args.join(' '))
})

test('a module that others may change is refused', async (t) => {
  const home = freshFolder(t)
  const file = join(home, 'tireless.config.mjs')
  writeFileSync(file, 'export default {}')
  chmodSync(file, 0o666)
  await assert.rejects(openApp(t, { home, withOwnerModule: true }), /others may change the module; got mode 666.*chmod/)
  chmodSync(file, 0o600)
  writeFileSync(join(home, 'tireless.config.ts'), 'export default {}', { mode: 0o600 })
  await assert.rejects(openApp(t, { home, withOwnerModule: true }), /two modules/)
  rmSync(file)
  await openApp(t, { home, withOwnerModule: true })
})
