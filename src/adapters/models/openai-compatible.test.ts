import assert from 'node:assert/strict'
import { test } from 'node:test'
import { delta, hello, modelAt, signal } from '../../../test/support/openai-model.ts'
import { EVENT_STREAM_HEADERS, startRawServer, startScriptedProvider } from '../../../test/support/raw-server.ts'
import type { ModelMessage } from '../../ports/model.ts'

test('an answer has text in pieces, raw calls and usage, with and without streaming', async () => {
  const usage = { input_tokens: 10, output_tokens: 20, cached_tokens: 4 }
  const calls = [
    { tool: 'bash', args: { command: 'ls' } },
    { tool: 'bash', args: '{"command": }', id: 'mine' },
  ]
  await using server = await startScriptedProvider([{ text: '你好, working on it 🚀', calls, usage }])
  for (const stream of [true, false]) {
    const pieces: string[] = []
    const model = modelAt(server.url, { stream, apiKey: 'k', headers: { 'x-extra': 'yes' } })
    assert.equal(model.id, 'local/m')
    const answer = await model.call(hello, { signal, onText: (text) => pieces.push(text) })
    assert.deepEqual(answer, {
      text: '你好, working on it 🚀',
      calls: [
        { id: 'call_0_0', tool: 'bash', args: '{"command":"ls"}' },
        { id: 'mine', tool: 'bash', args: '{"command": }' },
      ],
      finish: 'calls',
      usage,
    })
    assert.equal(pieces.join(''), answer.text)
    assert.equal(pieces.length > 1, stream)
  }
  for (const { headers, body } of server.requests) {
    assert.equal(headers.authorization, 'Bearer k')
    assert.equal(headers['x-extra'], 'yes')
    assert.deepEqual(
      { model: body.model, tools: body.tools, max_tokens: body.max_tokens },
      { model: 'm', tools: undefined, max_tokens: undefined },
    )
  }
  assert.deepEqual(server.requests[0]?.body.stream_options, { include_usage: true })
})

const tools = [
  { name: 'bash', description: 'runs', parameters: { type: 'object', properties: { command: { type: 'string' } } } },
]

const conversation: readonly ModelMessage[] = [
  { role: 'user', text: 'first' },
  {
    role: 'assistant',
    text: '',
    calls: [
      { id: 'a', tool: 'bash', args: { command: 'ls', odd: ['"', '\n', '字'] } },
      { id: 'b', tool: 'bash', args: 'not an object' },
    ],
  },
  { role: 'tool', call_id: 'a', tool: 'bash', text: 'one\ntwo', ok: true },
  { role: 'tool', call_id: 'b', tool: 'bash', text: 'bad arguments', ok: false },
  { role: 'assistant', text: 'so', calls: [] },
  { role: 'user', text: 'next' },
  { role: 'assistant', text: 'and', calls: [{ id: 'c', tool: 'bash', args: {} }] },
  { role: 'tool', call_id: 'c', tool: 'bash', text: '', ok: true },
]

test('a conversation is sent message by message, in order, and the request is not modified', async () => {
  await using server = await startScriptedProvider([{ text: 'ok' }])
  const request = { system: 'be brief', messages: conversation, tools }
  const before = structuredClone(request)
  for (const stream of [true, false]) await modelAt(server.url, { stream }).call(request, { signal })
  assert.deepEqual(request, before)
  const call = (id: string, args: string) => ({ id, type: 'function', function: { name: 'bash', arguments: args } })
  for (const { body } of server.requests) {
    assert.deepEqual(body.messages, [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'first' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [call('a', '{"command":"ls","odd":["\\"","\\n","字"]}'), call('b', '"not an object"')],
      },
      { role: 'tool', tool_call_id: 'a', content: 'one\ntwo' },
      { role: 'tool', tool_call_id: 'b', content: 'bad arguments' },
      { role: 'assistant', content: 'so' },
      { role: 'user', content: 'next' },
      { role: 'assistant', content: 'and', tool_calls: [call('c', '{}')] },
      { role: 'tool', tool_call_id: 'c', content: '' },
    ])
    const [tool] = tools
    assert.deepEqual(body.tools, [{ type: 'function', function: tool }])
  }
})

test('consecutive user messages are sent as one, because many model templates refuse two', async () => {
  await using server = await startScriptedProvider([{ text: 'ok' }])
  const messages: readonly ModelMessage[] = [
    { role: 'user', text: 'first' },
    { role: 'user', text: 'second' },
    { role: 'assistant', text: 'so', calls: [] },
    { role: 'user', text: 'look', images: [{ media_type: 'image/png', data: 'AAAA' }] },
    { role: 'user', text: 'there' },
  ]
  await modelAt(server.url).call({ system: '', messages, tools: [] }, { signal })
  const [first, , last] = server.requests[0]?.body.messages ?? []
  assert.deepEqual(first, { role: 'user', content: 'first\n\nsecond' })
  assert.deepEqual(
    ((last?.content ?? []) as unknown as readonly { readonly type: string }[]).map(({ type }) => type),
    ['text', 'image_url', 'text'],
  )
})

test('reasoning is sent back verbatim, to the same provider only', async () => {
  await using server = await startScriptedProvider([
    { reasoning: 'hm, hm', calls: [{ tool: 'bash' }] },
    { text: 'done' },
  ])
  for (const stream of [true, false]) {
    const { calls, text, reasoning } = await modelAt(server.url, { stream }).call(hello, { signal })
    assert.ok(reasoning !== undefined)
    const sentCalls = calls.map(({ id, tool, args }) => ({ id, tool, args: JSON.parse(args) }))
    const messages = [...hello.messages, { role: 'assistant' as const, text, calls: sentCalls, reasoning }]
    for (const provider of ['local', 'other']) {
      await modelAt(server.url, { stream, provider }).call({ ...hello, messages }, { signal })
      const sent = server.requests.at(-1)?.body.messages.at(-1)
      assert.equal(sent?.reasoning_content, provider === 'local' ? 'hm, hm' : undefined)
    }
  }
})

test('images are sent with a message; images of a tool result follow it, because a result is text only', async () => {
  await using server = await startScriptedProvider([{ text: 'ok' }])
  const images = [{ media_type: 'image/png', data: 'aW1hZ2U=' }]
  const messages: ModelMessage[] = [
    { role: 'user', text: 'look', images },
    { role: 'assistant', text: '', calls: [{ id: 'a', tool: 'bash', args: {} }] },
    { role: 'tool', call_id: 'a', tool: 'bash', text: 'a screenshot', ok: true, images },
    { role: 'assistant', text: 'I see', calls: [] },
  ]
  for (const upto of [3, 4]) {
    await modelAt(server.url).call({ ...hello, messages: messages.slice(0, upto) }, { signal })
    const sent = server.requests.at(-1)?.body.messages ?? []
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aW1hZ2U=' } }
    assert.deepEqual(sent[0]?.content, [{ type: 'text', text: 'look' }, image])
    assert.deepEqual(sent[2]?.content, 'a screenshot')
    assert.deepEqual(sent[3], {
      role: 'user',
      content: [{ type: 'text', text: '[images of the results above]' }, image],
    })
    assert.equal(sent.length, upto + 1)
  }
})

test("a call's signature is sent back with the call", async () => {
  const bodies: { messages: Record<string, unknown>[] }[] = []
  const signed = {
    index: 0,
    id: 'a',
    type: 'function',
    function: { name: 'bash', arguments: '{}' },
    extra_content: { google: { thought_signature: 'sig' } },
  }
  await using server = await startRawServer(async (message, response) => {
    bodies.push(JSON.parse((await message.toArray()).join('')))
    response.writeHead(200, EVENT_STREAM_HEADERS).end(delta({ tool_calls: [signed] }) + delta({}, 'tool_calls'))
  })
  const model = modelAt(server.url)
  const { reasoning } = await model.call(hello, { signal })
  assert.ok(reasoning !== undefined)
  const calls = [{ id: 'a', tool: 'bash', args: {} }]
  await model.call({ ...hello, messages: [{ role: 'assistant', text: '', calls, reasoning }] }, { signal })
  const { index: _, ...expected } = signed
  assert.deepEqual(bodies[1]?.messages[0]?.tool_calls, [expected])
})

test('usage is estimated if the provider reports none', async () => {
  await using server = await startRawServer((_, response) => {
    response.writeHead(200, EVENT_STREAM_HEADERS).end(delta({ content: 'x'.repeat(40) }) + delta({}, 'stop'))
  })
  const { usage } = await modelAt(server.url).call(hello, { signal })
  assert.equal(usage.output_tokens, 10)
  assert.ok(usage.input_tokens > 0)
})
