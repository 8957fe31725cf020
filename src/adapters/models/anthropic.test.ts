import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVENT_STREAM_HEADERS, startRawServer, startScriptedProvider } from '../../../test/support/raw-server.ts'
import type { ModelMessage, ModelRequest } from '../../ports/model.ts'
import { systemClock } from '../system/clock.ts'
import { createAnthropicModel } from './anthropic.ts'
import { createOpenAICompatibleModel } from './openai-compatible.ts'
import type { SdkOptions } from './sdk/sdk-model.ts'

const signal = new AbortController().signal
const tools = ['one', 'two'].map((name) => ({ name, description: '', parameters: { type: 'object' } }))
const hello: ModelRequest = { system: 'be brief', messages: [{ role: 'user', text: 'hello' }], tools }
const modelAt = (baseUrl: string, more: Partial<SdkOptions> = {}) =>
  createAnthropicModel({
    provider: 'claude',
    model: 'claude-test',
    baseUrl,
    apiKey: 'a-key',
    clock: systemClock,
    ...more,
  })

interface Block {
  readonly type: string
  readonly cache_control?: unknown
  readonly [more: string]: unknown
}
const blocksOf = (content: unknown): readonly Block[] => content as readonly Block[]

test('an answer has text, calls, usage and cached tokens; the request has the key and the output limit', async () => {
  const usage = { input_tokens: 10, output_tokens: 20, cached_tokens: 4 }
  await using server = await startScriptedProvider([
    { text: '你好 🚀', calls: [{ tool: 'one', args: { a: 1 } }], usage },
  ])
  for (const stream of [true, false]) {
    const pieces: string[] = []
    const model = modelAt(server.url, { stream, maxOutput: 77 })
    const {
      text,
      calls,
      finish,
      usage: used,
    } = await model.call(hello, { signal, onText: (said) => pieces.push(said) })
    assert.deepEqual({ text, finish, used }, { text: '你好 🚀', finish: 'calls', used: usage })
    assert.deepEqual(calls, [{ id: 'call_0_0', tool: 'one', args: '{"a":1}' }])
    assert.equal(pieces.join(''), text)
  }
  for (const { headers, body } of server.requests) {
    assert.equal(headers['x-api-key'], 'a-key')
    assert.equal(body.max_tokens, 77)
  }
})

test('system prompt, tools and conversation so far are marked for the prompt cache', async () => {
  await using server = await startScriptedProvider([{ text: 'ok' }])
  const messages: ModelMessage[] = [
    { role: 'user', text: 'first' },
    { role: 'assistant', text: 'so', calls: [{ id: 'a', tool: 'one', args: {} }] },
    { role: 'tool', call_id: 'a', tool: 'one', text: 'result', ok: true },
  ]
  await modelAt(server.url).call({ ...hello, messages }, { signal })
  const { body } = server.requests[0] ?? assert.fail()
  const marked = (blocks: readonly Block[]) => blocks.map(({ cache_control }) => cache_control !== undefined)
  assert.deepEqual(marked(blocksOf(body.system)), [true])
  assert.deepEqual(marked(blocksOf(body.tools)), [false, true])
  assert.deepEqual(
    body.messages.map(({ content }) => marked(blocksOf(content))),
    [[false], [false, false], [true]],
  )
})

test('signed thinking is sent back unchanged and in order, to the same provider only', async () => {
  await using server = await startScriptedProvider([
    { reasoning: 'hm, hm', text: 'well', calls: [{ tool: 'one' }] },
    { text: 'done' },
  ])
  for (const stream of [true, false]) {
    const { text, reasoning } = await modelAt(server.url, { stream }).call(hello, { signal })
    assert.ok(reasoning !== undefined)
    // The engine gives the call another id.
    const said: ModelMessage = { role: 'assistant', text, calls: [{ id: 'own', tool: 'one', args: {} }], reasoning }
    const result: ModelMessage = { role: 'tool', call_id: 'own', tool: 'one', text: '', ok: true }
    const messages = [...hello.messages, said, result]
    await modelAt(server.url, { stream }).call({ ...hello, messages }, { signal })
    const sent = blocksOf(server.requests.at(-1)?.body.messages[1]?.content)
    assert.deepEqual(
      sent.map(({ type }) => type),
      ['thinking', 'text', 'tool_use'],
    )
    assert.deepEqual(
      { thinking: sent[0]?.thinking, signature: sent[0]?.signature, id: sent[2]?.id },
      { thinking: 'hm, hm', signature: 'signed(6)', id: 'own' },
    )
    await modelAt(server.url, { stream, provider: 'other' }).call({ ...hello, messages }, { signal })
    await createOpenAICompatibleModel({
      provider: 'third',
      model: 'm',
      baseUrl: server.url,
      stream,
      clock: systemClock,
    }).call({ ...hello, messages }, { signal })
    for (const { body } of server.requests.slice(-2)) assert.doesNotMatch(JSON.stringify(body), /hm, hm|signed/)
  }
})

test('images are sent with a message and with a tool result', async () => {
  await using server = await startScriptedProvider([{ text: 'ok' }])
  const images = [{ media_type: 'image/png', data: 'aW1hZ2U=' }]
  const messages: ModelMessage[] = [
    { role: 'user', text: 'look', images },
    { role: 'assistant', text: '', calls: [{ id: 'a', tool: 'one', args: {} }] },
    { role: 'tool', call_id: 'a', tool: 'one', text: 'a screenshot', ok: true, images },
  ]
  await modelAt(server.url).call({ ...hello, messages }, { signal })
  const sent = server.requests[0]?.body.messages ?? []
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aW1hZ2U=' } }
  assert.deepEqual(blocksOf(sent[0]?.content)[1], image)
  assert.deepEqual(blocksOf(sent[2]?.content)[0]?.content, [{ type: 'text', text: 'a screenshot' }, image])
})

test('an error as the first event of a stream gets the code of its HTTP status', async () => {
  const codes = {
    overloaded_error: 'model_unavailable',
    rate_limit_error: 'model_limited',
    authentication_error: 'model_auth',
  }
  for (const [type, code] of Object.entries(codes)) {
    await using server = await startRawServer((_, response) => {
      const error = { type: 'error', error: { type, message: 'no' } }
      response.writeHead(200, EVENT_STREAM_HEADERS).end(`event: error\ndata: ${JSON.stringify(error)}\n\n`)
    })
    await assert.rejects(modelAt(server.url).call(hello, { signal }), { code })
  }
})

test('without a key, no key from the environment is sent', async () => {
  process.env.ANTHROPIC_API_KEY = 'of-the-environment'
  try {
    await using server = await startScriptedProvider([{ text: 'ok' }])
    await modelAt(server.url, { apiKey: undefined }).call(hello, { signal })
    assert.doesNotMatch(JSON.stringify(server.requests[0]?.headers), /of-the-environment/)
  } finally {
    delete process.env.ANTHROPIC_API_KEY
  }
})
