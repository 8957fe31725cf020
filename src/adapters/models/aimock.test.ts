/** The adapters against an independent mock server. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { LLMock } from '@copilotkit/aimock'
import type { ModelMessage } from '../../ports/model.ts'
import { systemClock } from '../system/clock.ts'
import { createAnthropicModel } from './anthropic.ts'
import { createOpenAIModel } from './openai.ts'
import { createOpenAICompatibleModel } from './openai-compatible.ts'

const mock = new LLMock({ port: 0, chunkSize: 4 })
const signal = new AbortController().signal
before(async () => {
  mock.on(
    { userMessage: 'weather', hasToolResult: false },
    { toolCalls: [{ name: 'weather', arguments: '{"city":"Oslo"}' }] },
  )
  mock.on({ userMessage: 'weather', hasToolResult: true }, { content: 'It rains in Oslo, as the tool said.' })
  mock.on(
    { userMessage: 'limited' },
    { error: { message: 'slow down', type: 'rate_limit_error' }, status: 429, retryAfter: 3 },
  )
  mock.on({ userMessage: 'broken' }, { error: { message: 'oops' }, status: 500 })
  mock.on({ userMessage: 'thrown' }, { error: { message: 'no such key' }, status: 401 })
  mock.onMessage('cut off', { content: 'a text that will not arrive whole' }, { truncateAfterChunks: 3, latency: 5 })
  await mock.start()
})
after(() => mock.stop())

const user = (text: string): ModelMessage => ({ role: 'user', text })
const parameters = { type: 'object', properties: { city: { type: 'string' } } }
const PROTOCOLS = {
  'chat completions': createOpenAICompatibleModel,
  responses: createOpenAIModel,
  messages: createAnthropicModel,
} as const

for (const [protocol, createModel] of Object.entries(PROTOCOLS))
  describe(`a third-party mock server, ${protocol}`, () => {
    const ask = (messages: readonly ModelMessage[], stream: boolean) =>
      createModel({
        provider: 'p',
        model: 'm',
        baseUrl: `${mock.url}/v1`,
        apiKey: 'k',
        stream,
        clock: systemClock,
      }).call({ system: 's', messages, tools: [{ name: 'weather', description: 'asks', parameters }] }, { signal })

    for (const stream of [true, false]) {
      const name = stream ? 'streaming' : 'not streaming'
      test(`${name}: a tool call, its result, the answer`, async () => {
        const first = await ask([user('the weather?')], stream)
        assert.equal(first.finish, 'calls')
        const [call] = first.calls
        assert.ok(call)
        assert.deepEqual({ tool: call.tool, args: JSON.parse(call.args) }, { tool: 'weather', args: { city: 'Oslo' } })
        const { text, reasoning } = first
        const last = await ask(
          [
            user('the weather?'),
            {
              role: 'assistant',
              text,
              calls: [{ id: call.id, tool: call.tool, args: JSON.parse(call.args) }],
              ...(reasoning === undefined ? {} : { reasoning }),
            },
            { role: 'tool', call_id: call.id, tool: call.tool, text: 'rain', ok: true },
          ],
          stream,
        )
        assert.deepEqual(
          { text: last.text, finish: last.finish, calls: last.calls },
          { text: 'It rains in Oslo, as the tool said.', finish: 'stop', calls: [] },
        )
      })

      test(`${name}: errors get the code for their cause, and the time to wait`, async () => {
        await assert.rejects(ask([user('limited')], stream), { code: 'model_limited', retryAfterMs: 3000 })
        await assert.rejects(ask([user('broken')], stream), { code: 'model_unavailable' })
        await assert.rejects(ask([user('thrown')], stream), { code: 'model_auth' })
      })
    }

    test('a truncated stream: model_cut', () => assert.rejects(ask([user('cut off')], true), { code: 'model_cut' }))
  })
