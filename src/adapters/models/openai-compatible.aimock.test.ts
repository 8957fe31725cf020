/** The adapter against a server that nobody here wrote. */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { LLMock } from '@copilotkit/aimock'
import type { Message } from '../../ports/model.ts'
import { systemClock } from '../clock.ts'
import { openAICompatible } from './openai-compatible.ts'

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

for (const stream of [true, false]) {
  const name = stream ? 'streaming' : 'not streaming'
  const ask = (messages: readonly Message[]) => {
    const baseUrl = `${mock.url}/v1`
    const model = openAICompatible({ provider: 'aimock', model: 'm', baseUrl, apiKey: 'k', stream, clock: systemClock })
    const parameters = { type: 'object', properties: { city: { type: 'string' } } }
    return model.call(
      { system: 's', messages, tools: [{ name: 'weather', description: 'asks', parameters }] },
      { signal },
    )
  }
  const user = (text: string): Message => ({ role: 'user', text })

  test(`a foreign server, ${name}: a tool call, its result, the answer`, async () => {
    const first = await ask([user('the weather?')])
    assert.equal(first.finish, 'calls')
    const [call] = first.calls
    assert.ok(call)
    assert.deepEqual([call.tool, call.args], ['weather', '{"city":"Oslo"}'])
    const last = await ask([
      user('the weather?'),
      { role: 'assistant', text: first.text, calls: [{ id: call.id, tool: call.tool, args: JSON.parse(call.args) }] },
      { role: 'tool', call_id: call.id, tool: call.tool, text: 'rain', ok: true },
    ])
    assert.deepEqual([last.text, last.finish, last.calls], ['It rains in Oslo, as the tool said.', 'stop', []])
    assert.ok(last.usage.output_tokens > 0)
  })

  test(`a foreign server, ${name}: its errors`, async () => {
    await assert.rejects(ask([user('limited')]), { code: 'model_limited', retryAfterMs: 3000 })
    await assert.rejects(ask([user('broken')]), { code: 'model_unavailable' })
    await assert.rejects(ask([user('thrown')]), { code: 'model_auth' })
  })
}

test('a foreign server that cuts its stream: model_cut', async () => {
  const baseUrl = `${mock.url}/v1`
  const model = openAICompatible({ provider: 'aimock', model: 'm', baseUrl, clock: systemClock })
  await assert.rejects(
    model.call({ system: '', messages: [{ role: 'user', text: 'cut off' }], tools: [] }, { signal }),
    {
      code: 'model_cut',
    },
  )
})
