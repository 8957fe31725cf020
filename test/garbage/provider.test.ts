/**
 * Generated answers of a provider in both formats, streamed and whole: a parsed answer or a typed error, never an
 * internal one.
 */

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { assertPlainMessage, assertReopens } from '../support/garbage-assertions.ts'
import { anyBytes, anyNumber, anyText, anyValue, checkProperty } from '../support/garbage-values.ts'
import { freshFolder, openApp } from '../support/open-app.ts'

interface Reply {
  readonly type: string
  readonly body: string | Buffer
  readonly status?: number
  readonly retryAfter?: string | undefined
}

const FIELDS = [
  ...['id', 'type', 'object', 'choices', 'delta', 'message', 'content', 'role', 'finish_reason', 'index', 'tool_calls'],
  ...['function', 'name', 'arguments', 'usage', 'prompt_tokens', 'completion_tokens', 'input_tokens', 'output_tokens'],
  ...['text', 'content_block', 'stop_reason', 'error', 'model', 'partial_json', 'signature'],
]

/** Objects made of the protocols' own field names, so that they get past the first checks. */
const protocolObject = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, anyValue, tie('object'), fc.array(tie('object'), { maxLength: 2 })),
  object: fc.dictionary(fc.constantFrom(...FIELDS), tie('value'), { maxKeys: 5 }),
})).object

const COUNTS = ['prompt_tokens', 'completion_tokens', 'input_tokens', 'output_tokens']
const usage = fc.dictionary(fc.constantFrom(...COUNTS), anyValue)

/** A complete answer with something wrong in it. */
const nearlyValid = fc
  .tuple(usage, anyValue, anyValue, fc.oneof(anyNumber, anyText))
  .map(([of, content, args, id]) => ({
    ...{ id, type: 'message', object: 'chat.completion', created: 0, model: 'm', role: 'assistant', usage: of },
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content }, delta: { content } }],
    content: [
      { type: 'text', text: content },
      { type: 'tool_use', id, name: 'bash', input: args },
    ],
    stop_reason: 'end_turn',
  }))

const EVENTS = ['message_start', 'content_block_start', 'content_block_delta', 'message_delta', 'message_stop', 'error']
const frame = fc
  .tuple(fc.constantFrom(...EVENTS), fc.oneof(protocolObject, nearlyValid))
  .map(([type, value]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...(value as object) })}\n\n`)

const STREAM = 'text/event-stream'
const reply: fc.Arbitrary<Reply> = fc.oneof(
  fc.oneof(protocolObject, nearlyValid).map((value) => ({ type: 'application/json', body: JSON.stringify(value) })),
  fc.array(frame, { maxLength: 5 }).map((frames) => ({ type: STREAM, body: frames.join('') })),
  anyBytes.map((body) => ({ type: 'application/json', body })),
  anyBytes.map((raw) => ({ type: STREAM, body: Buffer.concat([Buffer.from('data: '), raw, Buffer.from('\n\n')]) })),
)
const status = fc.constantFrom(200, 200, 200, 429, 503)
const retryAfter = fc.constantFrom(undefined, '-1', '1e999', '9'.repeat(30), '0.00001', 'soon')

/** A server that replies with the text it is given. */
async function startPuppetServer(t: TestContext): Promise<{ readonly url: string; replyWith(next: Reply): void }> {
  let next: Reply = { type: '', body: '' }
  const server = createServer((request, response) => {
    request.resume()
    if (next.retryAfter !== undefined) response.setHeader('retry-after', next.retryAfter)
    response.writeHead(next.status ?? 200, { 'content-type': next.type }).end(next.body)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return {
    url,
    replyWith(value) {
      next = value
    },
  }
}

for (const type of ['openai-compatible', 'anthropic'] as const)
  for (const stream of [true, false])
    test(`${type}, ${stream ? 'streamed' : 'whole'}: any reply`, async (t) => {
      const { url: base_url, replyWith } = await startPuppetServer(t)
      const providers = { one: { type, base_url, stream, api_key: 'some-key' } }
      const models = { default: 'one/m', providers, prices: { 'one/m': { input: 1, output: 1 } } }
      const home = freshFolder(t)
      const app = await openApp(t, { home, yaml: JSON.stringify({ models, budget: { per_day_usd: null } }) })
      await t.test('gives an answer or a typed error', () =>
        checkProperty(50, fc.tuple(reply, status, retryAfter), async ([value, code, after]) => {
          replyWith({ ...value, status: code, retryAfter: after })
          const tested = await app.run('models test', { model: 'one/m' })
          assert.ok(tested.code === null || tested.code.startsWith('model_'), `${tested.code}: ${tested.error}`)
          assertPlainMessage(tested.error ?? '')
        }),
      )
      await t.test('leaves a home that opens and can be read', async () => {
        await (await assertReopens(t, app, { home })).close()
      })
    })
