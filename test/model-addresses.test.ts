/** Where requests to models go, what a wrong address says, and that a request that never left costs nothing. */

import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { startProviderServer } from '../src/testing/provider-server.ts'
import { openApp, runTaskIn } from './support/open-app.ts'

const CLEAN = Object.fromEntries(
  ['ANTHROPIC', 'OPENAI', 'GEMINI', 'OPENROUTER', 'DEEPSEEK', 'MOONSHOT', 'DASHSCOPE', 'GOOGLE_GEMINI']
    .flatMap((name) => [`${name}_API_KEY`, `${name}_BASE_URL`])
    .concat('ANTHROPIC_AUTH_TOKEN', 'TIRELESS_MODEL')
    .map((name) => [name, undefined]),
)

/** Sets variables for one test and restores them afterwards; those of other providers are removed. */
function withProviderVariables(t: TestContext, given: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries({ ...CLEAN, ...given })) {
    const before = process.env[name]
    t.after(() => {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    })
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}

async function startServer(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A port that nothing listens at. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('E13: ANTHROPIC_BASE_URL and OPENAI_BASE_URL are used, without /v1 too', async (t) => {
  const server = await startProviderServer({ script: [{ text: 'ready' }] })
  t.after(() => server.close())
  const host = server.url.replace('/v1', '')
  const variables = { ANTHROPIC_BASE_URL: host, OPENAI_BASE_URL: `${host}/` }
  withProviderVariables(t, { ANTHROPIC_API_KEY: 'a-key-for-tests', OPENAI_API_KEY: 'another-key', ...variables })
  const app = await openApp(t)
  for (const model of ['anthropic/m', 'openai/m']) {
    const { ok, error } = await app.run('models test', { model })
    assert.equal(ok, true, String(error))
  }
  assert.equal(server.requests.length, 2)
})

test('every provider has a variable for its address, and one request goes there', async (t) => {
  const paths: string[] = []
  const address = await startServer(t, ({ url = '' }, response) => {
    paths.push(url)
    response.writeHead(404).end('not here')
  })
  const rows = [
    ['anthropic', 'ANTHROPIC', '/v1/messages'],
    ['google', 'GEMINI', '/v1beta/models/m:streamGenerateContent?alt=sse'],
    ['openrouter', 'OPENROUTER', '/v1/chat/completions'],
    ['deepseek', 'DEEPSEEK', '/v1/chat/completions'],
    ['moonshot', 'MOONSHOT', '/v1/chat/completions'],
    ['dashscope', 'DASHSCOPE', '/v1/chat/completions'],
  ] as const
  const variables = rows.flatMap(([, name]) => [
    [`${name}_API_KEY`, 'a-key-for-tests'],
    [`${name}_BASE_URL`, address],
  ])
  withProviderVariables(t, Object.fromEntries(variables))
  const app = await openApp(t, { yaml: JSON.stringify({ budget: { per_day_usd: null } }) })
  for (const [provider, name, path] of rows) {
    const { code, error } = await app.run('models test', { model: `${provider}/m` })
    assert.equal(code, 'model_unknown', String(error))
    // No second form is tried; the message says where the request went and what to change.
    assert.match(String(error), new RegExp(`change ${name}_BASE_URL.*The request went to ${address}`))
    assert.deepEqual(paths.splice(0), [path])
  }
})

test('ANTHROPIC_AUTH_TOKEN is sent as a bearer token, and redacted', async (t) => {
  const server = await startProviderServer({ script: [{ text: 'the token is marmalade-token-4711' }] })
  t.after(() => server.close())
  withProviderVariables(t, { ANTHROPIC_AUTH_TOKEN: 'marmalade-token-4711', ANTHROPIC_BASE_URL: server.url })
  const app = await openApp(t)
  const { answer } = await runTaskIn(app)
  assert.equal(answer, 'the token is ‹secret:ANTHROPIC_AUTH_TOKEN›')
  const { authorization, 'x-api-key': key } = server.requests[0]?.headers ?? {}
  assert.deepEqual({ authorization, key }, { authorization: 'Bearer marmalade-token-4711', key: undefined })
  const { items } = await app.run('models list', {})
  assert.deepEqual({ why: items[0]?.why, key: items[0]?.key }, { why: 'ANTHROPIC_AUTH_TOKEN', key: 'set' })
})

test('a base_url of the configuration wins over the environment, with and without /v1 and slash', async (t) => {
  const server = await startProviderServer({ script: [{ text: 'ready' }] })
  t.after(() => server.close())
  withProviderVariables(t, { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9/v1' })
  const host = server.url.replace('/v1', '')
  const forms = [host, `${host}/`, `${host}/v1`, `${host}/v1/`]
  const providers = Object.fromEntries(
    forms.flatMap((base_url, n) => [
      [`a${n}`, { type: 'anthropic', base_url, api_key: 'a-key-for-tests' }],
      [`o${n}`, { type: 'openai-compatible', base_url, api_key: 'a-key-for-tests' }],
    ]),
  )
  const app = await openApp(t, { yaml: JSON.stringify({ models: { providers } }) })
  for (const name of Object.keys(providers)) {
    const { ok, error } = await app.run('models test', { model: `${name}/m` })
    assert.equal(ok, true, `${name}: ${error}`)
  }
})

test('a request that never left the machine costs nothing, and the message says what to do', async (t) => {
  const port = await closedPort()
  const plain = await startServer(t, (_, response) => response.end('<html>'))
  const rows: readonly (readonly [url: string, code: string, message: RegExp])[] = [
    ['http://127.0.0.1:1', 'model_unsent', /port is reserved .* do this: change models\.providers\.p0\.base_url/],
    [`http://127.0.0.1:${port}`, 'model_unavailable', new RegExp(`start the server at 127.0.0.1:${port}, or correct`)],
    [`https://127.0.0.1:${port}`, 'model_unavailable', /or correct models\.providers\.p2\.base_url/],
    [
      'http://no-such-host.invalid',
      'model_unavailable',
      /check the network connection, and the host name no-such-host/,
    ],
    [plain.replace('http:', 'https:'), 'model_unavailable', /its address begins with http:\/\//],
    ['https://me:word@host/v1', 'config_invalid', /p5\.base_url has a user name or password; .* do this: remove it/],
  ]
  withProviderVariables(t, { ANTHROPIC_API_KEY: 'a-key-for-tests', ANTHROPIC_BASE_URL: 'localhost:8080' })
  const providers = rows.map(([base_url], n) => [`p${n}`, { type: 'anthropic', base_url, api_key: 'a-key-for-tests' }])
  const app = await openApp(t, { yaml: JSON.stringify({ models: { providers: Object.fromEntries(providers) } }) })
  const tests = rows.map(([, code, message], n) => [`p${n}/claude-sonnet-5-5`, code, message] as const)
  const inVariable =
    /ANTHROPIC_BASE_URL is not a web address; got localhost:8080; .* do this: change ANTHROPIC_BASE_URL/
  for (const [model, code, message] of [...tests, ['anthropic/m', 'config_invalid', inVariable] as const]) {
    const tested = await app.run('models test', { model })
    assert.deepEqual({ ok: tested.ok, code: tested.code }, { ok: false, code }, model)
    assert.match(String(tested.error), message)
    const { today } = await app.run('budget show', {})
    assert.deepEqual({ usd: today.usd, reserved_usd: today.reserved_usd }, { usd: 0, reserved_usd: 0 }, model)
  }
})

test('a run that could send nothing costs nothing; an answer that is no answer stays booked', async (t) => {
  withProviderVariables(t, { ANTHROPIC_API_KEY: 'a-key-for-tests', ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' })
  const app = await openApp(t)
  assert.equal((await runTaskIn(app)).status, 'failed')
  assert.equal((await app.run('budget show', {})).today.usd, 0)
  const page = await startServer(t, (_, response) => response.setHeader('content-type', 'text/html').end('<html>'))
  process.env.ANTHROPIC_BASE_URL = page
  const second = await openApp(t)
  const { code, error } = await second.run('models test', {})
  assert.equal(code, 'model_garbled')
  assert.match(String(error), /check ANTHROPIC_BASE_URL: .* answers, but not as a model provider/)
  assert.ok((await second.run('budget show', {})).today.usd > 0)
})
