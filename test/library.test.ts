import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import * as library from 'tireless'
import * as testing from 'tireless/testing'
import { z } from 'zod'
import { NODE_FLAGS, run } from './crash/kills.ts'
import { freshFolder } from './support/open-app.ts'

const ROOT = join(import.meta.dirname, '..')

test('examples/01 is the program in the README, and prints what the README says', async (t) => {
  const example = join(ROOT, 'examples/01-hello.ts')
  const [, ...lines] = readFileSync(example, 'utf8').split('\n')
  const program = lines.join('\n')
  const inReadme = /```ts\n(import [\s\S]*?)```/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8'))?.[1]
  assert.equal(inReadme, program)
  assert.ok(program.trim().split('\n').length <= 10)
  const result = await run('env', [`TIRELESS_HOME=${freshFolder(t)}`, process.execPath, ...NODE_FLAGS, example])
  assert.equal(result.exit, 0, result.stderr)
  assert.match(result.stdout, /1 ACT action_results[\s\S]*\ndone 1\. create_file hello\.md: done/)
  assert.match(result.stdout, /Good morning/)
})

test('examples/02: the rule agent finds the answer by bisection; its critic requests a second weighing', async (t) => {
  const example = join(ROOT, 'examples/02-rule-agent.ts')
  const result = await run('env', [`TIRELESS_HOME=${freshFolder(t)}`, process.execPath, ...NODE_FLAGS, example])
  assert.equal(result.exit, 0, result.stderr)
  // Without the critic, it would be 8 steps.
  assert.equal(result.stdout, '42 grams after 10 steps\n')
})

test('the library and its testing entry export the names of the interface', () => {
  for (const name of ['createApp', 'defineTool', 'runTask', 'TirelessError']) assert.ok(name in library, name)
  for (const name of ['FakeClock', 'scriptedModel', 'seededIds', 'startProviderServer', 'storeConformance'])
    assert.ok(name in testing, name)
})

test('case 10: concurrent runTask calls on one home all finish, each in its own session', async (t) => {
  const home = freshFolder(t)
  const model = testing.scriptedModel(({ messages }) => ({
    text: `done: ${JSON.stringify(messages).match(/task \d+/)}`,
  }))
  const numbers = Array.from({ length: 12 }, (_, i) => i)
  for (let round = 0; round < 2; round += 1) {
    const runIds: string[][] = numbers.map(() => [])
    const results = await Promise.all(
      numbers.map((n) =>
        library.runTask(`task ${n}`, {
          home,
          model,
          onProgress: (progress) => void (progress.kind === 'event' && runIds[n]?.push(progress.event.run_id)),
        }),
      ),
    )
    assert.deepEqual(
      results.map(({ answer }) => answer),
      numbers.map((n) => `done: task ${n}`),
    )
    assert.equal(new Set(results.map(({ session_id }) => session_id)).size, numbers.length)
    for (const [n, { dispatch_id }] of results.entries()) assert.deepEqual([...new Set(runIds[n])], [dispatch_id])
  }
  await (await library.createApp({ home, model })).close()
})

test('runTask refuses concurrent calls with different options; one after the other is fine', async (t) => {
  const home = freshFolder(t)
  const [model, other] = [
    testing.scriptedModel(() => ({ text: 'done' })),
    testing.scriptedModel(() => ({ text: 'else' })),
  ]
  const [first, second] = await Promise.allSettled([
    library.runTask('a', { home, model }),
    library.runTask('b', { home, model: other }),
  ])
  assert.equal(first.status === 'fulfilled' && first.value.answer, 'done')
  assert.ok(second.status === 'rejected')
  assert.equal(second.reason.code, 'conflict')
  assert.match(second.reason.message, /another task of this program.*`model`.*run them one after the other/)
  assert.equal((await library.runTask('b', { home, model: other })).answer, 'else')
  const broken = library.definePlugin({ name: 'broken', setup: () => assert.fail('no') })
  const plugins = [broken]
  const failed = await Promise.allSettled([1, 2].map(() => library.runTask('c', { home, model, plugins })))
  assert.deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal((await library.runTask('d', { home, model })).answer, 'done')
})

test('case 10: runTask is refused if another app holds the home', async (t) => {
  const home = freshFolder(t)
  const app = await library.createApp({ home })
  await assert.rejects(library.runTask('a', { home }), { code: 'home_locked' })
  await app.close()
})

declare module 'tireless' {
  interface Services {
    readonly greeter: { readonly greeting: string }
  }
}

test('K1: a plugin adds a tool and a typed service, and is stopped before its dependencies', async (t) => {
  const log: string[] = []
  const greeter = library.definePlugin({
    name: 'greeter',
    needs: ['tools', 'store'],
    provides: ['greeter'],
    setup(host) {
      host.provide('greeter', { greeting: 'good morning' })
      host.get('tools').add(
        library.defineTool({
          name: 'greet',
          description: 'Says hello',
          args: z.strictObject({}),
          effect: () => ({ recovery: 'pure', reach: 'none' }),
          run: async () => ({ status: 'ok', content: 'good morning' }),
        }),
      )
    },
    start: () => void log.push('started'),
    stop: async () =>
      void log.push(`stopped, store ${(await app.context.store.counts()).done === 1 ? 'open' : 'closed'}`),
  })
  const model = testing.scriptedModel([{ calls: [{ tool: 'greet' }] }, { text: 'done' }])
  const app = await library.createApp({ home: freshFolder(t), model, plugins: [greeter] })
  assert.equal(app.service('greeter').greeting, 'good morning')
  assert.equal((await app.run('run', { task: 'greet me' })).status, 'done')
  assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /good morning/)
  await app.close()
  assert.deepEqual(log, ['started', 'stopped, store open'])
})

test('K1: a plugin that throws in start leaves the home unlocked', async (t) => {
  const home = freshFolder(t)
  const broken = library.definePlugin({ name: 'broken', start: () => Promise.reject(new Error('no')) })
  await assert.rejects(library.createApp({ home, plugins: [broken] }), { code: 'plugin_failed' })
  await (await library.createApp({ home })).close()
})

test('K1: a plugin that is an instance of a class can use its fields in every part of its life', async (t) => {
  class Counter {
    readonly name = 'counter'
    readonly calls: string[] = []
    setup(): void {
      this.calls.push('setup')
    }
    start(): void {
      this.calls.push('start')
    }
    stop(): void {
      this.calls.push('stop')
    }
  }
  const counter = new Counter()
  await (await library.createApp({ home: freshFolder(t), plugins: [counter] })).close()
  assert.deepEqual(counter.calls, ['setup', 'start', 'stop'])
})

const tool = library.defineTool({
  name: 'odd',
  description: 'Does nothing',
  args: z.strictObject({}),
  effect: () => ({ recovery: 'pure', reach: 'none' }),
  run: async () => ({ status: 'ok', content: 'done' }),
})

describe('a malformed part is refused when the app is created, and the message names it', () => {
  const PARTS: Readonly<Record<string, readonly [object, RegExp]>> = {
    'a tool whose arguments JSON Schema cannot express': [
      { tools: [{ ...tool, args: z.object({ on: z.date() }) }] },
      /^args: invalid tool odd; got Date cannot be represented/,
    ],
    'a tool with parameters that are not JSON': [
      { tools: [{ ...tool, parameters: { type: 10n } }] },
      /^parameters: invalid tool odd; /,
    ],
    'a tool without args': [{ tools: [{ ...tool, args: undefined }] }, /^args: invalid tool odd; got undefined/],
    'a tool without run': [{ tools: [{ ...tool, run: undefined }] }, /^run: invalid entry odd in tools; got undefined/],
    'a tool without a name': [{ tools: [{}] }, /^invalid entry in tools; got {}/],
    'a tool that is null': [{ tools: [null] }, /^invalid entry in tools; got null/],
    'a gate without judge': [{ gates: [{ name: 'g' }] }, /^judge: invalid entry g in gates/],
    'a critic that is a number': [{ critics: [42] }, /^invalid entry in critics; got 42/],
    'a behaviour without initState': [{ behaviours: [{ name: 'b' }] }, /^initState: invalid entry b in behaviours/],
    'a hook that is undefined': [{ hooks: [undefined] }, /^invalid entry in hooks; got undefined/],
    'a parser without parse': [
      { parsers: [{ name: 'p', instructions: () => '' }] },
      /^parse: invalid entry p in parsers/,
    ],
    'a memory without open': [{ memories: [{ name: 'm' }] }, /^open: invalid entry m in memories/],
    'a channel without deliver': [{ channels: [{ name: 'c', trouble: () => null }] }, /^deliver: invalid entry c in/],
    'a plugin that is null': [{ plugins: [null] }, /^this is not a plugin: null/],
    'a plugin without a name': [{ plugins: [{ setup: () => {} }] }, /^this is not a plugin: /],
  }
  for (const [name, [options, message]] of Object.entries(PARTS))
    test(name, async (t) => {
      const home = freshFolder(t)
      const created = library.createApp({ home, ...options })
      t.after(() => created.then((app) => app.close()).catch(() => {}))
      await assert.rejects(created, { code: 'plugin_invalid', message })
      await (await library.createApp({ home })).close()
    })
})

test('runTask refuses malformed success criteria before the task runs', async (t) => {
  const model = testing.scriptedModel([{ text: 'done' }])
  for (const criteria of [[null], [42], [{ name: 'x' }], [{ name: 1, met: () => true }]])
    await assert.rejects(
      library.runTask({ objective: 'x', success_criteria: criteria } as never, { home: freshFolder(t), model }),
      { code: 'usage', message: /^success_criteria: / },
    )
  assert.equal(model.requests.length, 0)
})

test('a damaged lock of the home is named, with what to do, and keeps nothing locked', async (t) => {
  const home = freshFolder(t)
  await (await library.createApp({ home })).close()
  writeFileSync(join(home, 'lock'), 'this is not a lock')
  await assert.rejects(library.createApp({ home }), {
    code: 'store_failed',
    message: /lock: the home cannot be locked; got .*file is not a database; do this: .*delete it/,
  })
  rmSync(join(home, 'lock'))
  mkdirSync(join(home, 'lock.holder'))
  const message = /lock\.holder: the file was not written.*move it away/
  await assert.rejects(library.createApp({ home }), { code: 'store_failed', message })
  rmSync(join(home, 'lock.holder'), { recursive: true })
  await (await library.createApp({ home })).close()
})
