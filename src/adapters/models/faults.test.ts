/** The provider fault matrix over real sockets, with and without streaming: each fault has one documented outcome. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setImmediate as settled } from 'node:timers/promises'
import { type ErrorCode, TirelessError } from '../../domain/error.ts'
import type { ModelAnswer } from '../../domain/journal-record.ts'
import type { Model, ModelRequest } from '../../ports/model.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { FAULTS, type FaultName } from '../../testing/provider-server/script.ts'
import { type ProviderServer, type Script, startProviderServer } from '../../testing/provider-server.ts'
import { systemClock } from '../system/clock.ts'
import { createAnthropicModel } from './anthropic.ts'
import { createOpenAICompatibleModel } from './openai-compatible.ts'

const CALL = { tool: 'create_file', args: { path: 'a.txt', content: 'hello there' } }
const PARSED_CALL = { id: 'call_0_0', tool: 'create_file', args: '{"path":"a.txt","content":"hello there"}' }

/** Expected error code, or a check of the answer; two if streaming makes a difference. */
type Expected = ErrorCode | ((answer: ModelAnswer) => void)
const MATRIX: Record<FaultName, Expected | { streamed: Expected; whole: Expected }> = {
  '429': 'model_limited',
  '500': 'model_unavailable',
  '503': 'model_unavailable',
  '401': 'model_auth',
  '400': 'model_refused',
  '403': 'model_auth',
  '404': 'model_unknown',
  '529': 'model_unavailable',
  too_long: 'model_oversize',
  no_credit: 'model_auth',
  filtered: 'model_refused',
  hang: 'model_timeout',
  stall: 'model_timeout',
  reset: 'model_unavailable',
  cut: 'model_cut',
  cut_clean: 'model_cut',
  unfinished: 'model_cut',
  truncated_json: 'model_garbled',
  empty: 'model_empty',
  html: 'model_garbled',
  error_chunk: { streamed: 'model_cut', whole: 'model_garbled' },
  length: (answer) => assert.equal(answer.finish, 'length'),
  unknown_tool: (answer) => assert.deepEqual(answer.calls, [{ ...PARSED_CALL, tool: 'no_such_tool' }]),
  // In an Anthropic body, arguments that are not JSON are a JSON string.
  bad_args: ({ calls }) => {
    const raw = PARSED_CALL.args.slice(0, -1)
    assert.deepEqual(calls, [{ ...PARSED_CALL, args: calls[0]?.args.startsWith('"') ? JSON.stringify(raw) : raw }])
  },
  misfit_args: (answer) => assert.deepEqual(answer.calls, [{ ...PARSED_CALL, args: '{"no_such_argument":[]}' }]),
  duplicate_ids: (answer) => assert.deepEqual(answer.calls, [PARSED_CALL, PARSED_CALL]),
  huge: (answer) =>
    assert.deepEqual(
      { text: answer.text.length, calls: answer.calls, finish: answer.finish },
      { text: 5_000_000, calls: [], finish: 'stop' },
    ),
}

const request = (task: string): ModelRequest => ({ system: 's', messages: [{ role: 'user', text: task }], tools: [] })

const PROTOCOLS = { 'chat completions': createOpenAICompatibleModel, messages: createAnthropicModel } as const

function modelAt(
  server: Pick<ProviderServer, 'url'>,
  stream: boolean,
  more = {},
  createModel = createOpenAICompatibleModel,
): Model {
  const options = {
    provider: 'local',
    model: 'm',
    baseUrl: server.url,
    stream,
    idleTimeoutMs: 5000,
    clock: systemClock,
  }
  return createModel({ ...options, ...more })
}

for (const [protocol, createModel] of Object.entries(PROTOCOLS))
  for (const stream of [true, false])
    describe(`provider faults over ${protocol}, ${stream ? 'streaming' : 'not streaming'}`, () => {
      let server: ProviderServer
      before(async () => {
        const conversations = FAULTS.map((fault) => ({
          match: `<${fault}>`,
          turns: [{ calls: [CALL], faults: [fault] }],
        }))
        server = await startProviderServer({ script: { conversations } })
      })
      after(() => server.close())

      for (const fault of FAULTS) {
        const row = MATRIX[fault]
        const expected = typeof row === 'object' ? row[stream ? 'streamed' : 'whole'] : row
        test(`fault matrix: ${fault} → ${typeof expected === 'string' ? expected : 'an answer'}`, async () => {
          const clock = new FakeClock()
          const called = modelAt(server, stream, { clock }, createModel).call(request(`<${fault}>`), {
            signal: new AbortController().signal,
          })
          const checked =
            typeof expected === 'string'
              ? assert.rejects(called, (error) => hasCode(error, expected))
              : called.then(expected)
          if (expected === 'model_timeout') await letTimePass(clock, server, `<${fault}>`)
          await checked
          const requests = server.requests.filter(({ conversation }) => conversation === `<${fault}>`)
          assert.deepEqual(
            requests.map(({ fault: given, stream: streamed }) => ({ given, streamed })),
            [{ given: fault, streamed: stream }],
          )
          const next = await modelAt(server, stream, {}, createModel).call(request(`<${fault}>`), {
            signal: new AbortController().signal,
          })
          assert.deepEqual({ calls: next.calls, finish: next.finish }, { calls: [PARSED_CALL], finish: 'calls' })
        })
      }
    })

/** Waits for the request, then advances the fake clock without sending a byte. */
async function letTimePass(clock: FakeClock, server: ProviderServer, conversation: string): Promise<void> {
  while (!server.requests.some((request) => request.conversation === conversation)) await settled()
  await clock.advance(5000)
}

function hasCode(error: unknown, code: ErrorCode): boolean {
  assert.ok(error instanceof TirelessError, String(error))
  assert.equal(error.code, code, error.message)
  assert.match(error.message, /^local\/m: /)
  return true
}

async function callAndFail(script: Script, stream: boolean, more = {}): Promise<TirelessError> {
  const server = await startProviderServer({ script })
  try {
    await modelAt(server, stream, more).call(request('x'), { signal: new AbortController().signal })
    return assert.fail('the call succeeded')
  } catch (error) {
    assert.ok(error instanceof TirelessError, String(error))
    return error
  } finally {
    await server.close()
  }
}

test('a closed port or an unknown host is model_unavailable', async () => {
  const server = await startProviderServer({ script: [] })
  await server.close()
  const signal = new AbortController().signal
  for (const url of [server.url, 'http://no-such-host.invalid/v1']) {
    const called = modelAt({ url }, true).call(request('x'), { signal })
    await assert.rejects(called, (error) => hasCode(error, 'model_unavailable'))
  }
})

test('Retry-After is parsed as seconds, milliseconds or date, with 429 and with 503', async () => {
  const retryAfter = async (fault: object) =>
    (await callAndFail([{ text: 'x', faults: [fault as never] }], true)).retryAfterMs
  assert.equal(await retryAfter({ fault: '429', retry_after: 7 }), 7000)
  assert.equal(await retryAfter({ fault: '503', retry_after: '1.5' }), 1500)
  assert.equal(await retryAfter({ fault: '429', retry_after: 9, retry_after_ms: 250 }), 250)
  assert.equal(await retryAfter({ fault: '429', retry_after: 'Thu, 01 Jan 1970 00:00:00 GMT' }), 0)
  assert.equal(await retryAfter({ fault: '429', retry_after: 'soon' }), undefined)
  assert.equal(await retryAfter({ fault: '429' }), undefined)
})

test("a refusal quotes the provider's message in one short line, without the key", async () => {
  const apiKey = 'scripted 400'
  const error = await callAndFail([{ faults: [400], text: 'x' }], false, { apiKey })
  assert.equal(error.code, 'model_refused')
  assert.match(error.message, /got 400 \*\*\*/)
  assert.doesNotMatch(JSON.stringify({ ...error, cause: String(error.cause) }), /scripted 400/)
})

for (const stream of [true, false]) {
  test(`text over the limit is model_oversize, ${stream ? 'streaming' : 'not streaming'}`, async () => {
    const error = await callAndFail([{ text: 'x'.repeat(1001) }], stream, { maxBytes: 1000 })
    assert.equal(error.code, 'model_oversize')
    assert.equal(
      (await callAndFail([{ calls: [{ tool: 't', args: 'x'.repeat(1001) }] }], stream, { maxBytes: 1000 })).code,
      'model_oversize',
    )
    assert.equal((await callAndFail([{ faults: ['huge'] }], stream, { maxBytes: 1000 })).code, 'model_oversize')
  })

  test(`finish reasons, ${stream ? 'streaming' : 'not streaming'}: calls need a known one`, async () => {
    const code = async (turn: object) => (await callAndFail([turn], stream)).code
    assert.equal(await code({ text: 'x', finish: 'content_filter' }), 'model_refused')
    assert.equal(await code({ calls: [CALL], finish: 'content_filter' }), 'model_refused')
    assert.equal(await code({ calls: [CALL], finish: 'eos' }), 'model_cut')
    assert.equal(await code({ text: 'x', finish: '' }), 'model_cut')
    assert.equal(await code({ finish: 'length' }), 'model_empty')
    assert.equal(await code({ text: ' \n', finish: 'stop' }), 'model_empty')
    assert.equal(await code({ reasoning: 'hm', finish: 'stop' }), 'model_empty')
    const server = await startProviderServer({ script: [{ text: 'x', finish: 'eos' }] })
    const answer = await modelAt(server, stream).call(request('x'), { signal: new AbortController().signal })
    await server.close()
    assert.deepEqual({ text: answer.text, finish: answer.finish }, { text: 'x', finish: 'stop' })
  })
}
