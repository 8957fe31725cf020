import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVENT_STREAM_HEADERS, readJsonBody, sseData, startRawServer } from '../../../test/support/raw-server.ts'
import type { ModelMessage, ModelRequest } from '../../ports/model.ts'
import { systemClock } from '../system/clock.ts'
import { createGoogleModel } from './google.ts'
import type { SdkOptions } from './sdk/sdk-model.ts'

const signal = new AbortController().signal
const tools = [{ name: 'one', description: '', parameters: { type: 'object', properties: { a: { type: 'number' } } } }]
const hello: ModelRequest = { system: 'be brief', messages: [{ role: 'user', text: 'hello' }], tools }
const modelAt = (baseUrl: string, more: Partial<SdkOptions> = {}) =>
  createGoogleModel({ provider: 'google', model: 'gemini-test', baseUrl, apiKey: 'a-key', clock: systemClock, ...more })

interface RequestBody {
  readonly contents: readonly { readonly role: string; readonly parts: readonly Record<string, unknown>[] }[]
  readonly generationConfig?: { readonly maxOutputTokens?: number }
}

const parts = [
  { text: 'hm', thought: true },
  { functionCall: { name: 'one', args: { a: 1 } }, thoughtSignature: 'signed' },
]
const usageMetadata = {
  promptTokenCount: 10,
  candidatesTokenCount: 20,
  cachedContentTokenCount: 4,
  totalTokenCount: 30,
}
const answerWith = (finishReason: string | undefined) => ({
  candidates: [{ content: { parts, role: 'model' }, finishReason }],
  usageMetadata,
})

async function startServer(answer: object, status = 200) {
  const requests: { url: string; headers: Record<string, unknown>; body: RequestBody }[] = []
  const rawServer = await startRawServer(async (message, reply) => {
    requests.push({ url: message.url ?? '', headers: message.headers, body: await readJsonBody<RequestBody>(message) })
    const streamed = message.url?.includes('stream') && status === 200
    const headers = streamed ? EVENT_STREAM_HEADERS : { 'content-type': 'application/json' }
    reply.writeHead(status, headers).end(streamed ? sseData(answer) : JSON.stringify(answer))
  })
  return { ...rawServer, requests }
}

test('a signed thought is sent back with its call, to the same provider only', async () => {
  await using started = await startServer(answerWith('STOP'))
  for (const stream of [true, false]) {
    const answer = await modelAt(started.url, { stream, maxOutput: 99 }).call(hello, { signal })
    assert.deepEqual(
      answer.calls.map(({ tool, args }) => ({ tool, args })),
      [{ tool: 'one', args: '{"a":1}' }],
    )
    assert.deepEqual(
      { finish: answer.finish, cached_tokens: answer.usage.cached_tokens, input_tokens: answer.usage.input_tokens },
      { finish: 'calls', cached_tokens: 4, input_tokens: 10 },
    )
    const [first] = started.requests.splice(0)
    assert.deepEqual(
      { xGoogApiKey: first?.headers['x-goog-api-key'], maxOutputTokens: first?.body.generationConfig?.maxOutputTokens },
      { xGoogApiKey: 'a-key', maxOutputTokens: 99 },
    )
    assert.ok(answer.reasoning !== undefined)
    const id = answer.calls[0]?.id ?? ''
    const messages: ModelMessage[] = [
      ...hello.messages,
      { role: 'assistant', text: '', calls: [{ id, tool: 'one', args: { a: 1 } }], reasoning: answer.reasoning },
      { role: 'tool', call_id: id, tool: 'one', text: 'done', ok: true },
    ]
    await modelAt(started.url, { stream }).call({ ...hello, messages }, { signal })
    await modelAt(started.url, { stream, provider: 'other' }).call({ ...hello, messages }, { signal })
    const [same, other] = started.requests.splice(0)
    assert.equal(same?.body.contents[1]?.parts.at(-1)?.thoughtSignature, 'signed')
    assert.doesNotMatch(JSON.stringify(other?.body), /"signed"|hm/)
  }
})

test('errors of Google get their codes', async () => {
  const error = (code: number, message: string) => ({ error: { code, message, status: 'X' } })
  const rows: readonly (readonly [object, number, string])[] = [
    [answerWith('SAFETY'), 200, 'model_refused'],
    [answerWith('MALFORMED_FUNCTION_CALL'), 200, 'model_cut'],
    [answerWith(undefined), 200, 'model_cut'],
    [error(429, 'slow down'), 429, 'model_limited'],
    [error(503, 'overloaded'), 503, 'model_unavailable'],
    [error(403, 'no'), 403, 'model_auth'],
    [error(404, 'models/x is not found'), 404, 'model_unknown'],
    [error(400, 'The input token count (9) exceeds the maximum number of tokens allowed (8).'), 400, 'model_oversize'],
  ]
  for (const [answer, status, code] of rows)
    for (const stream of [true, false]) {
      await using started = await startServer(answer, status)
      await assert.rejects(modelAt(started.url, { stream }).call(hello, { signal }), { code })
      assert.equal(started.requests.length, 1)
    }
})

test('one call makes one request, also if the SDK would continue by itself', async () => {
  const [candidate] = answerWith('CONTINUATION').candidates
  await using started = await startServer({ candidates: [{ ...candidate, continuationToken: 'more' }], usageMetadata })
  for (const stream of [true, false]) {
    const outcome = await modelAt(started.url, { stream })
      .call(hello, { signal })
      .then(
        ({ finish }) => finish,
        (error) => error.code,
      )
    assert.ok(['length', 'model_cut'].includes(outcome), outcome)
    assert.equal(started.requests.splice(0).length, 1)
  }
})
