/** The offline model as a new user meets it: it says once what it is, and calls the user's own tools. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { z } from 'zod'
import { offlineModel } from '../src/adapters/models/offline/offline.ts'
import { defineTool } from '../src/index.ts'
import { startKernelIn, tireless } from './support/command-line.ts'
import { freshFolder, openApp, runTaskIn } from './support/open-app.ts'

const WEATHER = defineTool({
  name: 'weather',
  description: 'The weather in a city.',
  effect: () => ({ recovery: 'pure', reach: 'none' }),
  args: z.object({ city: z.string() }),
  run: async ({ city }) => ({ status: 'ok', content: `It is sunny in ${city}.` }),
})

test('the offline model says on the first run of a home that it stands in, then only in status', async (t) => {
  const home = freshFolder(t)
  const task = 'Write "hi" to a.md.'
  const first = await tireless(home, 'run', task)
  assert.match(first.stderr, /The built-in offline model stands in: it follows simple rules/)
  const second = await tireless(home, 'run', task)
  assert.doesNotMatch(second.stderr + second.stdout, /built-in offline model|stands in/)
  assert.match(second.stdout, /^1\. create_file a\.md: done/)
  const status = await tireless(home, 'status')
  assert.match(status.stdout, /\nmodel +offline\/rules \(only a stand-in; for real work set an API key/)
  const tested = await tireless(home, 'models', 'test')
  assert.match(
    tested.stdout,
    /^offline\/rules: works; answered in \d+ ms.*\nNo model is configured\. .* set an API key/,
  )
})

test("the offline model calls the user's own tool that the task names", async (t) => {
  const app = await openApp(t, { model: offlineModel, tools: [WEATHER] })
  const { status, answer } = await runTaskIn(app, 'What is the weather in Paris? Then write "ok" to done.md.')
  assert.equal(status, 'done')
  assert.match(
    answer ?? '',
    /1\. weather {"city":"Paris"}: done: It is sunny in Paris\.\n2\. create_file done\.md: done/,
  )
})

test('models list says where keys are set, and which ones the running process lacks', async (t) => {
  const home = freshFolder(t)
  writeFileSync(join(home, 'tireless.yaml'), 'models: { default: deepseek/deepseek-chat }\nserver: { port: 0 }\n')
  await startKernelIn(t, home)
  const before = process.env.DEEPSEEK_API_KEY
  t.after(() => {
    if (before === undefined) delete process.env.DEEPSEEK_API_KEY
    else process.env.DEEPSEEK_API_KEY = before
  })
  process.env.DEEPSEEK_API_KEY = 'a-key-for-tests'
  for (const command of [['models', 'list'], ['status']]) {
    const { stderr } = await tireless(home, ...command)
    assert.match(
      stderr,
      /not in the running process \(pid \d+\): DEEPSEEK_API_KEY\. .*tireless stop, then tireless start/,
    )
  }
  const { stdout } = await tireless(home, 'models', 'list')
  assert.match(stdout, /DEEPSEEK_API_KEY is empty or not set; .* set it in the shell that starts Tireless/)
  assert.match(stdout, /no key for: .*deepseek \(DEEPSEEK_API_KEY\)/)
  const test = await tireless(home, 'models', 'test')
  assert.match(test.stdout, /^deepseek\/deepseek-chat: FAILED \(config_invalid\)\n.*\n.*\n {2}do this: set it/)
  assert.equal(test.exit, 1)
})

test('the state of a fresh home is its owner’s; a configuration of elephant.ai keeps its own', async (t) => {
  const seedText = /elephant\.ai autonomous kernel — founder mindset\.\n永不询问、永不等待/
  const stateOf = async (yaml: string): Promise<string> =>
    (await openApp(t, { yaml, model: offlineModel })).context.settings().seed_state
  const agent = (prompt: string) => JSON.stringify({ kernel: { agents: [{ agent_id: 'a', prompt }] } })
  assert.match(await stateOf(agent('当前系统状态:\n{STATE}\n\n请根据上述状态生成今日工作简报。')), seedText)
  for (const yaml of ['', agent('Look at {STATE} and write a report.'), agent('写一份报告。')])
    assert.match(await stateOf(yaml), /^# Kernel State\n## identity\n\(Write here who you are/)
  assert.equal(await stateOf('kernel: { seed_state: mine }'), 'mine')
})
