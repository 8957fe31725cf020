/** HTTP over real sockets: health, the API that mirrors the commands, and errors. */

import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { loadCommands } from '../src/commands/lib/registry.ts'
import { asTirelessError } from '../src/domain/error.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { JSON_BODY, openHttpApp, postJson, sendRequest } from './support/http-app.ts'
import { openApp, waitUntil } from './support/open-app.ts'

const COMMANDS = await loadCommands()

test('E14: /healthz and /readyz answer without a token: 200, or 503 with the reasons', async (t) => {
  const stop = new AbortController()
  const signals = { drain: stop.signal, abort: new AbortController().signal }
  const served = await openHttpApp(t, { signals, model: scriptedModel([{ text: 'done' }]) })
  assert.deepEqual((await sendRequest(served, '/healthz')).json(), { ok: true, reasons: [] })
  const idle = await sendRequest(served, '/readyz')
  assert.deepEqual(
    { status: idle.status, json: idle.json() },
    { status: 503, json: { ok: false, reasons: ['the queue is not being worked'] } },
  )
  const draining = served.app.context.drain({ untilIdle: false })
  await waitUntil(async () => (await sendRequest(served, '/readyz')).status === 200)
  stop.abort()
  const stopping = await sendRequest(served, '/readyz')
  assert.equal(stopping.status, 503)
  assert.match(stopping.text, /shutting down/)
  await draining
})

test('E14: /healthz is 503 with the reason if a provider refuses its key', async (t) => {
  const served = await openHttpApp(t)
  served.app
    .service('engine')
    .breaker.recordOutcome({ model: 'scripted/model', code: 'model_auth', at: served.app.context.clock.now() })
  const { status, text } = await sendRequest(served, '/healthz')
  assert.equal(status, 503)
  assert.match(text, /^\{"ok":false,"reasons":\[".*refuses its key/)
})

test('E14: /metrics is in the format of Prometheus', async (t) => {
  const served = await openHttpApp(t)
  await served.app.run('enqueue', { prompt: 'something' })
  const { status, text, headers } = await sendRequest(served, '/metrics')
  assert.equal(status, 200)
  assert.match(headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/)
  assert.match(text, /^tireless_dispatches\{status="pending"\} 1$/m)
  assert.match(text, /^tireless_up 0$/m)
  assert.match(text, /^nodejs_eventloop_lag_p99_seconds \d/m)
  assert.ok(Number(/^process_resident_memory_bytes (\d+)$/m.exec(text)?.[1]) > 1e6)
  for (const line of text.trimEnd().split('\n'))
    assert.match(line, /^(# (HELP|TYPE) [a-z_0-9]+ .+|[a-z_0-9]+(\{[a-z]+="[^"]*"\})? -?\d+(\.\d+)?(e-?\d+)?)$/)
})

test('HTTP: the API mirrors the commands: same input, same output, same refusals', async (t) => {
  const served = await openHttpApp(t)
  const { status, json } = await postJson(served, '/api/v1/enqueue', { prompt: 'first', priority: 3 })
  assert.equal(status, 200)
  const { dispatch_id: id } = json<{ dispatch_id: string }>()
  await postJson(served, '/api/v1/enqueue', { prompt: 'second' })
  const headers = served.bearer
  const listed = await sendRequest(served, '/api/v1/queue/list?status=pending&limit=1', { headers })
  assert.deepEqual(listed.json(), await served.app.run('queue list', { status: 'pending', limit: 1 }))
  const shown = await sendRequest(served, `/api/v1/queue/show?id=${id}`, { headers })
  assert.equal(shown.json().priority, 3)
  assert.deepEqual(
    (await sendRequest(served, '/api/v1/status', { headers })).json(),
    await served.app.run('status', {}),
  )
  for (const [path, expected, code] of [
    ['/api/v1/queue/show?id=nobody', 404, 'not_found'],
    ['/api/v1/queue/show', 400, 'usage'],
    ['/api/v1/queue/list?limit=many', 400, 'usage'],
    ['/api/v1/queue/list?limt=1', 400, 'usage'],
    ['/api/v1/queue/list?limit=1&limit=2', 400, 'usage'],
    ['/api/v1/queue', 404, 'not_found'],
    ['/api/v1/start', 404, 'not_found'],
  ] as const) {
    const refused = await sendRequest(served, path, { headers })
    assert.deepEqual({ status: refused.status, code: refused.code }, { status: expected, code }, path)
    assert.deepEqual(Object.keys(refused.json()), ['error'])
  }
})

test('HTTP: an invalid request is refused with what was expected, and without a stack trace', async (t) => {
  const served = await openHttpApp(t)
  const headers = { ...served.bearer, ...JSON_BODY }
  const large = JSON.stringify({ prompt: 'x'.repeat(1024 * 1024) })
  for (const [method, path, body, status, message] of [
    ['POST', '/api/v1/enqueue', '{"prompt":', 400, /not a JSON object; got .*JSON.*; expected an object such as/],
    ['POST', '/api/v1/enqueue', '["prompt"]', 400, /not a JSON object/],
    ['POST', '/api/v1/enqueue', 'null', 400, /not a JSON object/],
    ['POST', '/api/v1/enqueue', '', 400, /prompt/],
    ['POST', '/api/v1/enqueue', '{"prompt":"x","__proto__":{"priority":9}}', 400, /__proto__/],
    ['POST', '/api/v1/enqueue', large, 413, /too large; expected at most 1048576 bytes/],
    ['POST', '/api/v1/run', '{"task":"x","workspace":"here"}', 400, /path is relative; got here; expected an absolute/],
    ['POST', '/api/v1/queue/list', '{}', 405, /got POST; expected GET/],
    ['GET', '/api/v1/enqueue', '', 405, /got GET; expected POST/],
    ['DELETE', '/api/v1/queue/list', '{}', 405, /got DELETE/],
    ['GET', '/../../etc/passwd', '', 404, /no such path/],
    ['GET', '/assets/%2e%2e/%2e%2e/package.json', '', 404, /no such path/],
  ] as const) {
    const refused = await sendRequest(served, path, { method, headers, body })
    assert.equal(refused.status, status, `${method} ${path}: ${refused.text}`)
    assert.match(refused.text, message)
    assert.doesNotMatch(refused.text, /\.ts:|node_modules|at \w+ \(/)
  }
  assert.deepEqual(await served.app.run('queue list', {}), { items: [], total: 0 }, 'nothing was queued')
})

/** What a command says about a home in which nothing has happened. */
const NOTHING_YET = /STATE\.md does not exist yet|there was no cycle yet/

test('HTTP: every command is a GET that changes nothing or a POST, as OpenAPI says', async (t) => {
  const served = await openHttpApp(t)
  const { paths } = (await sendRequest(served, '/api/v1/openapi.json', { headers: served.bearer })).json<{
    paths: Record<string, Record<string, Operation>>
  }>()
  const commits = served.app.context.store.commits()
  for (const command of COMMANDS.filter(({ runsIn }) => runsIn === 'any_process')) {
    const path = `/api/v1/${command.name.replaceAll(' ', '/')}`
    const [[method, operation] = ['none', undefined], ...more] = Object.entries(paths[path] ?? {})
    assert.ok(operation && more.length === 0, path)
    assert.equal(operation.summary, command.summary)
    const names = method === 'get' ? operation.parameters?.map(({ name }) => name) : bodyKeys(operation)
    assert.deepEqual(names, Object.keys(command.input.shape), path)
    const answered = await sendRequest(served, path, {
      method: method.toUpperCase() === 'GET' ? 'GET' : 'HEAD',
      headers: served.bearer,
    })
    const isFound = [200, 400].includes(answered.status) || NOTHING_YET.test(answered.text)
    if (method === 'get') assert.ok(isFound, `${path}: ${answered.text}`)
    else assert.equal(answered.status, 405, path)
  }
  assert.equal(served.app.context.store.commits(), commits)
  const others = Object.keys(paths).filter(
    (path) => !COMMANDS.some(({ name }) => path.endsWith(`/${name.replaceAll(' ', '/')}`)),
  )
  assert.deepEqual(others, ['/api/v1/events', '/api/v1/files', '/api/v1/login'])
})

interface Operation {
  readonly summary: string
  readonly parameters?: readonly { readonly name: string }[]
  readonly requestBody?: { readonly content: Record<string, { schema: { properties?: Record<string, unknown> } }> }
}

const bodyKeys = ({ requestBody }: Operation): string[] =>
  Object.keys(requestBody?.content['application/json']?.schema.properties ?? {})

test('HTTP: every reference in the OpenAPI document resolves, and operation ids are unique', async (t) => {
  const served = await openHttpApp(t)
  const { text, json } = await sendRequest(served, '/api/v1/openapi.json', { headers: served.bearer })
  const document = json<{ openapi: string; components: { schemas: object } }>()
  assert.equal(document.openapi, '3.1.0')
  for (const [, name = ''] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
    assert.ok(name in document.components.schemas, name)
  const ids = [...text.matchAll(/"operationId":"(\w+)"/g)].map(([, id]) => id)
  assert.equal(new Set(ids).size, ids.length)
  assert.ok(ids.length > 20)
})

test('HTTP: a port in use is named with the remedy; once it is free, serving works', async (t) => {
  const blocker = createServer()
  await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve))
  t.after(() => blocker.close())
  const { port } = blocker.address() as { port: number }
  const app = await openApp(t, { yaml: `server: { port: ${port} }\n` })
  await assert.rejects(app.context.serveHttp(), (thrown) => {
    const { code, message } = asTirelessError(thrown)
    assert.equal(code, 'conflict')
    assert.match(message, new RegExp(`port ${port} is in use; got .*EADDRINUSE.*; do this: .*server\\.port`))
    return true
  })
  await new Promise((resolve) => blocker.close(resolve))
  assert.equal((await app.context.serveHttp()).url, `http://127.0.0.1:${port}`)
})

test('HTTP: an address of another machine is refused with the remedy', async (t) => {
  const app = await openApp(t, { yaml: 'server: { host: 203.0.113.1, port: 0 }\n' })
  await assert.rejects(
    app.context.serveHttp({ expose: true }),
    /cannot listen on this address; got .*; do this: set server\.host/,
  )
})

test('HTTP: serving twice uses one port, and closing the app ends it', async (t) => {
  const app = await openApp(t, { yaml: 'server: { port: 0 }\n' })
  const url = (await app.context.serveHttp()).url
  assert.equal((await app.context.serveHttp()).url, url, 'the second call must return the same address')
  const port = Number(new URL(url).port)
  assert.equal((await sendRequest({ port }, '/healthz')).status, 200)
  await app.close()
  await assert.rejects(sendRequest({ port }, '/healthz'), /ECONNREFUSED/)
})
