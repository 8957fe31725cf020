/** The examples of docs/plugins: each page shows a file of examples/plugins, which runs here as it is. */

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { App } from '../../src/app.ts'
import { TirelessError } from '../../src/domain/error.ts'
import type { Plugin } from '../../src/ports/plugin.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { pokeTool } from '../support/event-recorder.ts'
import { advanceUntilDone, openApp, readLogs, runTaskIn, waitUntil } from '../support/open-app.ts'

const ROOT = join(import.meta.dirname, '../..')
const EXAMPLES = join(ROOT, 'examples/plugins')

async function openWith(t: TestContext, example: string, options: Parameters<typeof openApp>[1] = {}): Promise<App> {
  const { default: plugin } = (await import(join(EXAMPLES, `${example}.ts`))) as { readonly default: Plugin }
  return openApp(t, { plugins: [plugin], yaml: 'sandbox: off\n', ...options })
}

describe('docs/plugins', () => {
  for (const file of readdirSync(EXAMPLES))
    test(`docs/plugins/${file.replace('.ts', '.md')} shows the example, of 15 to 60 lines`, () => {
      const text = readFileSync(join(EXAMPLES, file), 'utf8')
      const page = join(ROOT, 'docs/plugins', file.replace('.ts', '.md'))
      assert.ok(existsSync(page), `${page} is missing`)
      assert.ok(readFileSync(page, 'utf8').includes(`\`\`\`ts\n${text}\`\`\``), 'the page shows another text')
      const lines = text.trim().split('\n').length
      assert.ok(lines >= 15 && lines <= 60, `${lines} lines`)
    })

  test('Q8: env: a task opens the door; in another env its tool is not offered', async (t) => {
    const codes = ['0000', '4711']
    const model = scriptedModel((_, turn) => ({ calls: [{ tool: 'try_code', args: { code: codes[turn] ?? '' } }] }))
    const app = await openWith(t, 'env', { model })
    const { stop_reason, answer } = await runTaskIn(app, 'open the door', { env: 'door' })
    assert.deepEqual({ stop_reason, answer }, { stop_reason: 'env_terminal', answer: 'open after 2 tries' })
    const other = scriptedModel(() => ({ text: 'done' }))
    const elsewhere = await openWith(t, 'env', { model: other })
    assert.equal((await runTaskIn(elsewhere)).status, 'done')
    assert.equal(
      other.requests[0]?.tools.some(({ name }) => name === 'try_code'),
      false,
    )
  })

  test('Q10: memory: a note that matches is shown once', async (t) => {
    const model = scriptedModel((_, turn) => (turn === 0 ? { calls: [{ tool: 'noop' }] } : { text: 'at six' }))
    const app = await openWith(t, 'memory', { model })
    assert.equal((await runTaskIn(app, 'When does the office close?', { memory: 'notes' })).status, 'done')
    const shown = model.requests.map(({ messages }) => JSON.stringify(messages).split('closes at six').length - 1)
    assert.deepEqual(shown, [1, 1])
  })

  test('model: the configuration names it', async (t) => {
    const app = await openWith(t, 'model', { yaml: 'sandbox: off\nmodels: { default: echo/reverse }\n' })
    assert.equal((await runTaskIn(app, 'do some good')).answer, 'good some do')
  })

  test('Q14, Q18: recovery and stop rules: it waits for the provider, and stops after two errors', async (t) => {
    const clock = new FakeClock()
    let calls = 0
    const model = scriptedModel(() => {
      calls += 1
      if (calls === 1) throw new TirelessError('model_unavailable', 'down')
      return {
        calls: [
          { tool: 'view_file', args: { path: 'a' } },
          { tool: 'view_file', args: { path: 'b' } },
        ],
      }
    })
    const app = await openWith(t, 'recovery-and-stop-rules', { clock, model })
    const before = clock.now()
    const { stop_reason, error } = await advanceUntilDone(clock, runTaskIn(app))
    assert.deepEqual({ stop_reason, error }, { stop_reason: 'stop_rule', error: '2 calls of step 1 failed' })
    assert.ok(clock.now() - before >= 60_000)
  })

  test('K1: services: a diary of finished runs, and a task for a failed one', async (t) => {
    const model = scriptedModel(({ system }) => ({ text: system === 'You summarise.' ? 'it went well' : 'done' }))
    const app = await openWith(t, 'services', { model })
    await runTaskIn(app, 'write a poem')
    const memory = app.service('memory')
    await waitUntil(async () => (await memory.recall({ text: 'went well' })).length > 0)
    assert.equal((await memory.recall({ text: 'went well' }))[0]?.text, 'it went well (final)')
    await runTaskIn(app, 'fail', { model: 'nothing/here', parser: 'nothing' })
    await waitUntil(async () => (await app.run('queue list', { status: 'pending' })).items.length > 0)
  })

  test('behaviour: the second draft is the answer', async (t) => {
    const drafts = ['a long draft', 'short']
    const app = await openWith(t, 'behaviour', { model: scriptedModel((_, turn) => ({ text: drafts[turn] ?? '' })) })
    assert.equal((await runTaskIn(app, 'a haiku', { behaviour: 'twice' })).answer, 'short')
  })

  test('parser: a line is a call; a call that cannot be read is told to the model', async (t) => {
    const texts = ['!poke oops', '!poke {}', 'all done']
    const model = scriptedModel((_, turn) => ({ text: texts[turn] ?? '' }))
    const tool = pokeTool()
    const app = await openWith(t, 'parser', { model, tools: [tool] })
    const { answer } = await runTaskIn(app, 'poke it', { parser: 'lines' })
    assert.deepEqual({ answer, runs: tool.runs }, { answer: 'all done', runs: 1 })
    assert.match(JSON.stringify(model.requests[1]?.messages), /write the arguments of poke as a JSON object/)
  })

  test('critic: an answer without sources is sent back', async (t) => {
    const texts = ['it is so', 'it is so: https://example.org']
    const app = await openWith(t, 'critic', { model: scriptedModel((_, turn) => ({ text: texts[turn] ?? '' })) })
    assert.equal((await runTaskIn(app)).answer, 'it is so: https://example.org')
  })

  test('hook: the log has the steps of the run', async (t) => {
    const app = await openWith(t, 'hook', { model: scriptedModel(() => ({ text: 'done' })) })
    await runTaskIn(app)
    assert.match(JSON.stringify(await readLogs(app, 20)), /final: 1 steps, 0 errors/)
  })
})
