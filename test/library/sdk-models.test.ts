import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { defineTool, type ProviderModel, runTask, startTask } from 'tireless'
import { FakeClock, type Script, startProviderServer } from 'tireless/testing'
import { z } from 'zod'
import { createProvidedModel } from '../../src/adapters/models/sdk/provided-model.ts'
import { freshFolder } from '../support/open-app.ts'

const weather = defineTool({
  name: 'weather',
  description: 'The weather',
  args: z.object({ town: z.string() }),
  effect: { recovery: 'pure', reach: 'none' },
  run: ({ town }) => ({ town, sky: 'sunny' }),
})
const TASK = { objective: 'How is Bern?', behaviour: 'solo' }
const PRICE = { input: 1, output: 1, max_output: 500 }
const CALL = { calls: [{ tool: 'weather', args: { town: 'Bern' } }] }

async function openProvider(t: TestContext, script: Script) {
  const server = await startProviderServer({ script })
  t.after(() => server.close())
  return { server, model: createOpenAICompatible({ name: 'local', baseURL: server.url }).chatModel('test-1') }
}

describe('a model object of an AI SDK provider', () => {
  test('calls tools, streams its text and counts its usage, with a price also its money', async (t) => {
    const { server, model } = await openProvider(t, [CALL, { text: 'It is sunny.' }])
    const options = { home: freshFolder(t), model: { model, price: PRICE }, tools: [weather] }
    const task = await startTask({ ...TASK, max_usd: 1 }, options)
    let [text, usd] = ['', 0]
    for await (const event of task) {
      if (event.kind === 'delta' && event.delta.kind === 'text') text += event.delta.text
      if (event.kind === 'event' && typeof event.event.payload.usd === 'number') usd += event.event.payload.usd
    }
    const { status, answer } = await task.result()
    assert.deepEqual({ status, answer, text }, { status: 'done', answer: 'It is sunny.', text: 'It is sunny.' })
    assert.ok(usd > 0)
    const { messages = [], max_tokens } = (server.requests[1]?.body ?? {}) as {
      messages?: object[]
      max_tokens?: number
    }
    assert.equal(max_tokens, PRICE.max_output)
    assert.match(JSON.stringify(messages.at(-1)), /sunny/)
  })

  test('without a price, or one of the configuration, it is not called while a money limit is set', async (t) => {
    const { server, model } = await openProvider(t, [{ text: 'It is sunny.' }])
    const home = freshFolder(t)
    const limited = await runTask(TASK, { home, model })
    assert.deepEqual([limited.status, server.requests.length], ['failed', 0])
    assert.match(limited.error ?? '', /local\/test-1/)
    writeFileSync(join(home, 'tireless.yaml'), 'models: { prices: { "local/*": { input: 1, output: 1 } } }')
    assert.equal((await runTask(TASK, { home, model })).answer, 'It is sunny.')
  })

  test('its errors are those of a configured model: a refused key ends the run and is named', async (t) => {
    const { model } = await openProvider(t, [{ text: 'no', faults: [401] }])
    const { status, error, failure_class } = await runTask(TASK, {
      home: freshFolder(t),
      model: { model, price: PRICE },
    })
    assert.deepEqual({ status, failure_class }, { status: 'failed', failure_class: 'provider' })
    assert.match(error ?? '', /local\/test-1/)
  })

  for (const version of ['v2', 'v3'])
    test(`version ${version} works, with its own forms of finish reason and usage`, async (t) => {
      const prompts: string[] = []
      const model = oldModel(version, prompts)
      const result = await runTask(TASK, { home: freshFolder(t), model: { model, price: PRICE }, tools: [weather] })
      assert.deepEqual([result.status, result.answer], ['done', 'It is sunny.'])
      assert.match(prompts[1] ?? '', /tool-result.*sunny/)
    })

  test('one that throws, or returns something else, fails with an error that names it', async (t) => {
    const home = freshFolder(t)
    const garbage = [42, undefined, null, {}, { stream: 42 }, { stream: ReadableStream.from([null, 42]) }]
    for (const answer of [...garbage, new Error('broken')]) {
      const doStream = () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer))
      const model = { ...oldModel('v4', []), doStream }
      const { status, error } = await runTask({ ...TASK, max_seconds: 1 }, { home, model: { model, price: PRICE } })
      assert.equal(status, 'failed')
      assert.doesNotMatch(error ?? '', /store_/)
      assert.match(error ?? '', /old\/m/)
    }
  })

  test('one that hangs and ignores its signal is given up after the time without data', async () => {
    const clock = new FakeClock()
    const given = { ...oldModel('v4', []), doStream: () => new Promise<never>(() => {}) }
    const model = createProvidedModel(given, null, clock)
    const request = { system: '', messages: [{ role: 'user' as const, text: 'hello' }], tools: [] }
    const answer = model.call(request, { signal: new AbortController().signal })
    const refused = assert.rejects(answer, { code: 'model_timeout', message: /old\/m/ })
    await clock.advance(121_000)
    await refused
  })

  test('an object of another version, or without its members, is refused', async (t) => {
    for (const model of [oldModel('v1', []), { specificationVersion: 'v4' }, { model: {} }, 42])
      await assert.rejects(runTask(TASK, { home: freshFolder(t), model: model as never }), {
        code: 'usage',
        message: /^model: invalid option.*AI SDK provider \(version v2, v3, v4\)/,
      })
  })
})

/** Calls the tool, then answers, in the form of an older version. */
function oldModel(specificationVersion: string, prompts: string[]): ProviderModel {
  const isV2 = specificationVersion === 'v2'
  const usage = isV2
    ? { inputTokens: 7, outputTokens: 3, totalTokens: 10 }
    : { inputTokens: { total: 7 }, outputTokens: { total: 3 } }
  const finish = (unified: string) => (isV2 ? unified : { unified, raw: undefined })
  const turns: readonly (readonly object[])[] = [
    [
      { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: '{"town":"Bern"}' },
      { type: 'finish', finishReason: finish('tool-calls'), usage },
    ],
    [
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'It is sunny.' },
      { type: 'text-end', id: 't' },
      { type: 'finish', finishReason: finish('stop'), usage },
    ],
  ]
  return {
    ...{ specificationVersion, provider: 'old.chat', modelId: 'm' },
    doGenerate: () => Promise.reject(new Error('not used')),
    async doStream({ prompt }: { readonly prompt: unknown }) {
      prompts.push(JSON.stringify(prompt))
      return { stream: ReadableStream.from(turns[prompts.length - 1] ?? []) }
    },
  } as ProviderModel
}
