import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVENT_STREAM_HEADERS, readJsonBody, sseData, startRawServer } from '../../../test/support/raw-server.ts'
import type { ModelMessage, ModelRequest } from '../../ports/model.ts'
import { systemClock } from '../system/clock.ts'
import { createOpenAIModel } from './openai.ts'
import type { SdkOptions } from './sdk/sdk-model.ts'

const signal = new AbortController().signal
const tools = [{ name: 'one', description: '', parameters: { type: 'object' } }]
const hello: ModelRequest = { system: 'be brief', messages: [{ role: 'user', text: 'hello' }], tools }
const modelAt = (baseUrl: string, more: Partial<SdkOptions> = {}) =>
  createOpenAIModel({ provider: 'openai', model: 'gpt-5', baseUrl, apiKey: 'a-key', clock: systemClock, ...more })

interface RequestBody {
  readonly store?: boolean
  readonly include?: readonly string[]
  readonly max_output_tokens?: number
  readonly input: readonly { readonly type?: string; readonly [more: string]: unknown }[]
}

const reasoning = {
  type: 'reasoning',
  id: 'rs_1',
  encrypted_content: 'sealed',
  summary: [{ type: 'summary_text', text: 'hm' }],
}
const call = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'one',
  arguments: '{"a":1}',
  status: 'completed',
}
const usage = {
  input_tokens: 10,
  output_tokens: 20,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens_details: { reasoning_tokens: 5 },
}
const response = (more: object) => ({ id: 'resp_1', object: 'response', created_at: 0, model: 'gpt-5', ...more })

/** The same answer as a stream of events. */
const events = (last: object): string =>
  [
    { type: 'response.created', response: response({}) },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...reasoning, summary: [], encrypted_content: null },
    },
    { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index: 0 },
    { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', summary_index: 0, delta: 'hm' },
    { type: 'response.output_item.done', output_index: 0, item: reasoning },
    { type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '', status: 'in_progress' } },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: call.arguments },
    { type: 'response.output_item.done', output_index: 1, item: call },
    last,
  ]
    .map(sseData)
    .join('')

const complete = response({ output: [reasoning, call], usage, incomplete_details: null })

async function startServer(last: object = { type: 'response.completed', response: complete }) {
  const bodies: (RequestBody & { stream?: boolean })[] = []
  const started = await startRawServer(async (message, reply) => {
    const body = await readJsonBody<RequestBody & { stream?: boolean }>(message)
    bodies.push(body)
    if (body.stream) reply.writeHead(200, EVENT_STREAM_HEADERS).end(events(last))
    else reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(complete))
  })
  return { ...started, bodies }
}

test('encrypted reasoning is sent back in order, to the same provider only; OpenAI stores nothing', async () => {
  await using openaiServer = await startServer()
  for (const stream of [true, false]) {
    const answer = await modelAt(openaiServer.url, { stream, maxOutput: 99 }).call(hello, { signal })
    assert.deepEqual(answer.calls, [{ id: 'call_1', tool: 'one', args: '{"a":1}' }])
    assert.deepEqual(answer.usage, { input_tokens: 10, output_tokens: 20, cached_tokens: 4 })
    assert.equal(answer.finish, 'calls')
    const [first] = openaiServer.bodies.splice(0)
    assert.deepEqual(
      { store: first?.store, include: first?.include, max_output_tokens: first?.max_output_tokens },
      { store: false, include: ['reasoning.encrypted_content'], max_output_tokens: 99 },
    )

    const { reasoning: kept } = answer
    assert.ok(kept !== undefined)
    const assistantMessage: ModelMessage = {
      role: 'assistant',
      text: '',
      calls: [{ id: 'call_1', tool: 'one', args: { a: 1 } }],
      reasoning: kept,
    }
    const result: ModelMessage = { role: 'tool', call_id: 'call_1', tool: 'one', text: 'done', ok: true }
    const next = { ...hello, messages: [...hello.messages, assistantMessage, result] }
    await modelAt(openaiServer.url, { stream }).call(next, { signal })
    await modelAt(openaiServer.url, { stream, provider: 'other' }).call(next, { signal })
    const [same, other] = openaiServer.bodies.splice(0)
    assert.deepEqual(
      same?.input.slice(2).map(({ type }) => type),
      ['reasoning', 'function_call', 'function_call_output'],
    )
    assert.equal(same?.input[2]?.encrypted_content, 'sealed')
    assert.doesNotMatch(JSON.stringify(other), /sealed|rs_1/)
  }
})

test('failed, incomplete and truncated answers have their own outcome, and their calls are dropped', async () => {
  const failed = (code: string) => ({
    type: 'response.failed',
    sequence_number: 9,
    response: response({ error: { code, message: 'no' }, output: [], usage }),
  })
  const incomplete = (reason: string) => ({
    type: 'response.incomplete',
    response: { ...complete, incomplete_details: { reason } },
  })
  const outcomeOf = async (last: object) => {
    await using openaiServer = await startServer(last)
    return await modelAt(openaiServer.url)
      .call(hello, { signal })
      .then(
        ({ finish }) => finish,
        (error) => error.code,
      )
  }
  assert.equal(await outcomeOf(failed('server_error')), 'model_cut')
  assert.equal(await outcomeOf(failed('rate_limit_exceeded')), 'model_limited')
  assert.equal(await outcomeOf(failed('context_length_exceeded')), 'model_oversize')
  assert.equal(await outcomeOf(incomplete('max_output_tokens')), 'length')
  assert.equal(await outcomeOf(incomplete('content_filter')), 'model_refused')
  assert.equal(await outcomeOf(incomplete('something_new')), 'model_cut')
  assert.equal(await outcomeOf({ type: 'response.in_progress', response: response({}) }), 'model_cut')
})
