/** HTTP as others meet it, over real sockets: health, the API that mirrors the commands, and errors. */

import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { COMMANDS } from '../src/commands/lib/registry.ts'
import { asTirelessError } from '../src/domain/error.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { JSON_BODY, openHttpApp, postJson, sendRequest } from './support/http-app.ts'
import { openApp, waitUntil } from './support/open-app.ts'

test('E14: /healthz and /readyz say how it is, without a token: 200 or 503 with the reasons', async (t) => {
  const stop = new AbortController()
  const signals = { drain: stop.signal, abort: new AbortController().signal }
  const to = await openHttpApp(t, { signals, model: scriptedModel([{ text: 'done' }]) })
  assert.deepEqual((await sendRequest(to, '/healthz')).json(), { ok: true, reasons: [] })
  const idle = await sendRequest(to, '/readyz')
  assert.deepEqual([idle.status, idle.json()], [503, { ok: false, reasons: ['the queue is not being worked'] }])
  const draining = to.app.context.drain({ untilIdle: false })
  await waitUntil(async () => (await sendRequest(to, '/readyz')).status === 200)
  stop.abort()
  const stopping = await sendRequest(to, '/readyz')
  assert.equal(stopping.status, 503)
  assert.match(stopping.text, /shutting down/)
  await draining
})

test('E14: /healthz is 503 with the reason when a provider refuses its key', async (t) => {
  const to = await openHttpApp(t)
  to.app
    .service('engine')
    .breaker.recordOutcome({ model: 'scripted/model', code: 'model_auth', at: to.app.context.clock.now() })
  const { status, text } = await sendRequest(to, '/healthz')
  assert.equal(status, 503)
  assert.match(text, /^\{"ok":false,"reasons":\[".*refuses its key/)
})

test('E14: /metrics counts in the words of Prometheus', async (t) => {
  const to = await openHttpApp(t)
  await to.app.run('enqueue', { prompt: 'something' })
  const { status, text, headers } = await sendRequest(to, '/metrics')
  assert.equal(status, 200)
  assert.match(headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/)
  assert.match(text, /^tireless_dispatches\{status="pending"\} 1$/m)
  assert.match(text, /^tireless_up 0$/m)
  assert.match(text, /^nodejs_eventloop_lag_p99_seconds \d/m)
  assert.ok(Number(/^process_resident_memory_bytes (\d+)$/m.exec(text)?.[1]) > 1e6)
  for (const line of text.trimEnd().split('\n'))
    assert.match(line, /^(# (HELP|TYPE) [a-z_0-9]+ .+|[a-z_0-9]+(\{[a-z]+="[^"]*"\})? -?\d+(\.\d+)?(e-?\d+)?)$/)
})

test('HTTP: the API mirrors the commands: the same input, the same output, the same refusals', async (t) => {
  const to = await openHttpApp(t)
  const { status, json } = await postJson(to, '/api/v1/enqueue', { prompt: 'first', priority: 3 })
  assert.equal(status, 200)
  const { dispatch_id: id } = json<{ dispatch_id: string }>()
  await postJson(to, '/api/v1/enqueue', { prompt: 'second' })
  const headers = to.bearer
  const listed = await sendRequest(to, '/api/v1/queue/list?status=pending&limit=1', { headers })
  assert.deepEqual(listed.json(), await to.app.run('queue list', { status: 'pending', limit: 1 }))
  const shown = await sendRequest(to, `/api/v1/queue/show?id=${id}`, { headers })
  assert.equal(shown.json().priority, 3)
  assert.deepEqual((await sendRequest(to, '/api/v1/status', { headers })).json(), await to.app.run('status', {}))
  for (const [path, expected, code] of [
    ['/api/v1/queue/show?id=nobody', 404, 'not_found'],
    ['/api/v1/queue/show', 400, 'usage'],
    ['/api/v1/queue/list?limit=many', 400, 'usage'],
    ['/api/v1/queue/list?limt=1', 400, 'usage'],
    ['/api/v1/queue/list?limit=1&limit=2', 400, 'usage'],
    ['/api/v1/queue', 404, 'not_found'],
    ['/api/v1/start', 404, 'not_found'],
  ] as const) {
    const refused = await sendRequest(to, path, { headers })
    assert.deepEqual([refused.status, refused.code], [expected, code], path)
    assert.deepEqual(Object.keys(refused.json()), ['error'])
  }
})

test('HTTP: what cannot be read is refused with what was expected, and never with a stack', async (t) => {
  const to = await openHttpApp(t)
  const headers = { ...to.bearer, ...JSON_BODY }
  const large = JSON.stringify({ prompt: 'x'.repeat(1024 * 1024) })
  for (const [method, path, body, status, said] of [
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
    const refused = await sendRequest(to, path, { method, headers, body })
    assert.equal(refused.status, status, `${method} ${path}: ${refused.text}`)
    assert.match(refused.text, said)
    assert.doesNotMatch(refused.text, /\.ts:|node_modules|at \w+ \(/)
  }
  assert.deepEqual(await to.app.run('queue list', {}), { items: [] }, 'nothing of it was done')
})

test('HTTP: a GET changes nothing, and every command that the holder runs is one or a POST', async (t) => {
  const to = await openHttpApp(t)
  const { paths } = (await sendRequest(to, '/api/v1/openapi.json', { headers: to.bearer })).json<{
    paths: Record<string, Record<string, Operation>>
  }>()
  const commits = to.app.context.store.commits()
  for (const command of COMMANDS.filter(({ runsIn }) => runsIn === 'any_process')) {
    const path = `/api/v1/${command.name.replaceAll(' ', '/')}`
    const [[method, operation] = ['none', undefined], ...more] = Object.entries(paths[path] ?? {})
    assert.ok(operation && more.length === 0, path)
    assert.equal(operation.summary, command.summary)
    const told = method === 'get' ? operation.parameters?.map(({ name }) => name) : bodyKeys(operation)
    assert.deepEqual(told, Object.keys(command.input.shape), path)
    const answered = await sendRequest(to, path, {
      method: method.toUpperCase() === 'GET' ? 'GET' : 'HEAD',
      headers: to.bearer,
    })
    const isThere = [200, 400].includes(answered.status) || answered.text.includes('STATE.md does not exist yet')
    if (method === 'get') assert.ok(isThere, `${path}: ${answered.text}`)
    else assert.equal(answered.status, 405, path)
  }
  assert.equal(to.app.context.store.commits(), commits)
  const others = Object.keys(paths).filter(
    (path) => !COMMANDS.some(({ name }) => path.endsWith(`/${name.replaceAll(' ', '/')}`)),
  )
  assert.deepEqual(others, ['/api/v1/events', '/api/v1/login'])
})

interface Operation {
  readonly summary: string
  readonly parameters?: readonly { readonly name: string }[]
  readonly requestBody?: { readonly content: Record<string, { schema: { properties?: Record<string, unknown> } }> }
}

const bodyKeys = ({ requestBody }: Operation): string[] =>
  Object.keys(requestBody?.content['application/json']?.schema.properties ?? {})

test('HTTP: every reference of the OpenAPI document leads somewhere, and every operation has a name of its own', async (t) => {
  const to = await openHttpApp(t)
  const { text, json } = await sendRequest(to, '/api/v1/openapi.json', { headers: to.bearer })
  const document = json<{ openapi: string; components: { schemas: object } }>()
  assert.equal(document.openapi, '3.1.0')
  for (const [, name = ''] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
    assert.ok(name in document.components.schemas, name)
  const ids = [...text.matchAll(/"operationId":"(\w+)"/g)].map(([, id]) => id)
  assert.equal(new Set(ids).size, ids.length)
  assert.ok(ids.length > 20)
})

test('HTTP: a taken port is named with what to do, nothing is left behind, and a free one works', async (t) => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  t.after(() => other.close())
  const { port } = other.address() as { port: number }
  const app = await openApp(t, { yaml: `server: { port: ${port} }\n` })
  await assert.rejects(app.context.serveHttp(), (thrown) => {
    const { code, message } = asTirelessError(thrown)
    assert.equal(code, 'conflict')
    assert.match(message, new RegExp(`port ${port} is in use; got .*EADDRINUSE.*; do this: .*server\\.port`))
    return true
  })
  await new Promise((resolve) => other.close(resolve))
  assert.equal((await app.context.serveHttp()).url, `http://127.0.0.1:${port}`)
})

test('HTTP: an address that is not of this machine is refused with what to do', async (t) => {
  const app = await openApp(t, { yaml: 'server: { host: 203.0.113.1, port: 0 }\n' })
  await assert.rejects(
    app.context.serveHttp({ expose: true }),
    /cannot listen on this address; got .*; do this: set server\.host/,
  )
})

test('HTTP: only who serves opens a port, and closing ends it with whoever still watches', async (t) => {
  const app = await openApp(t, { yaml: 'server: { port: 0 }\n' })
  const before = (await app.context.serveHttp()).url
  assert.equal((await app.context.serveHttp()).url, before, 'once')
  const port = Number(new URL(before).port)
  assert.equal((await sendRequest({ port }, '/healthz')).status, 200)
  await app.close()
  await assert.rejects(sendRequest({ port }, '/healthz'), /ECONNREFUSED/)
})
