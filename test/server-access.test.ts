/** Access over HTTP: tokens, cookies, login codes, host names, other sites. */

import assert from 'node:assert/strict'
import { chmodSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FakeClock } from '../src/testing/fake-clock.ts'
import {
  type EventStream,
  type HttpApp,
  type HttpResponse,
  JSON_BODY,
  openEventStream,
  openHttpApp,
  postJson,
  sendRequest,
} from './support/http-app.ts'
import { freshFolder, openApp, waitUntil } from './support/open-app.ts'

const CSRF = { 'x-tireless-csrf': '1' }

const cookieOf = ({ headers }: HttpResponse): string => headers['set-cookie']?.[0]?.split(';')[0] ?? ''

async function logIn(served: HttpApp): Promise<{ cookie: string }> {
  return { cookie: cookieOf(await postJson(served, '/api/v1/login', { token: served.token }, {})) }
}

test('HTTP: the token is 256 bits in a private file, lasts over restarts, and is in no log', async (t) => {
  const home = freshFolder(t)
  const first = await openHttpApp(t, { home })
  assert.match(first.token, /^[0-9a-f]{64}$/)
  assert.equal(statSync(join(home, 'token')).mode & 0o777, 0o600)
  assert.ok(!first.url.includes(first.token) && !first.login_url.includes(first.token))
  chmodSync(join(home, 'token'), 0o644)
  first.app.service('log').write('info', 'token in a field', { token: `it is ${first.token}` })
  await first.app.close()
  const logged = globSync('*', { cwd: join(home, 'logs') }).map((name) =>
    readFileSync(join(home, 'logs', name), 'utf8'),
  )
  assert.match(logged.join(), /token in a field/)
  assert.ok(!logged.join().includes(first.token))
  const second = await openHttpApp(t, { home })
  assert.equal(second.token, first.token)
  assert.equal(statSync(join(home, 'token')).mode & 0o777, 0o600, 'the file is private again')
})

test('HTTP: a token that can be guessed is refused', async (t) => {
  const home = freshFolder(t)
  writeFileSync(join(home, 'token'), 'hunter2\n')
  const app = await openApp(t, { home, yaml: 'server: { port: 0 }\n' })
  await assert.rejects(
    app.context.serveHttp(),
    /token is too short.*got 7 characters.*do this: (remove|delete) the file/,
  )
})

test('HTTP: API and events need the token in a header', async (t) => {
  const served = await openHttpApp(t)
  const wrong = served.token.replace(/^./, (first) => (first === '0' ? '1' : '0'))
  for (const path of ['/api/v1/status', '/api/v1/events', '/api/v1/openapi.json', '/api/v1/nothing']) {
    for (const headers of [
      {},
      { authorization: `Bearer ${wrong}` },
      { authorization: served.token },
      { cookie: `tireless-${served.port}=${served.token}` },
    ]) {
      const refused = await sendRequest(served, path, { headers })
      assert.deepEqual({ status: refused.status, code: refused.code }, { status: 401, code: 'unauthorized' }, path)
    }
    assert.equal(
      (await sendRequest(served, `${path}?token=${served.token}`)).status,
      401,
      'a token in the URL is not accepted',
    )
  }
  assert.equal((await sendRequest(served, '/api/v1/status', { headers: served.bearer })).status, 200)
})

test('HTTP: requests with another host name are refused (DNS rebinding)', async (t) => {
  const served = await openHttpApp(t)
  for (const path of ['/', '/healthz', '/metrics', '/api/v1/status', '/api/v1/events'])
    for (const host of [
      `evil.example:${served.port}`,
      'evil.example',
      `127.0.0.1:${served.port + 1}`,
      `0.0.0.0:${served.port}`,
    ]) {
      const refused = await sendRequest(served, path, { headers: { ...served.bearer, host } })
      assert.deepEqual(
        { status: refused.status, code: refused.code },
        { status: 403, code: 'forbidden' },
        `${path} as ${host}`,
      )
    }
  assert.equal((await sendRequest(served, '/healthz', { headers: { host: `localhost:${served.port}` } })).status, 200)
})

test('HTTP: requests of other origins are refused, also from another port of this machine', async (t) => {
  const served = await openHttpApp(t)
  const askFrom = (origin: string) => sendRequest(served, '/api/v1/status', { headers: { ...served.bearer, origin } })
  for (const origin of [
    'http://evil.example',
    `http://localhost:${served.port + 1}`,
    'null',
    `https://localhost:${served.port}`,
  ])
    assert.equal((await askFrom(origin)).status, 403, origin)
  for (const origin of [
    `http://localhost:${served.port}`,
    `http://127.0.0.1:${served.port}`,
    `http://[::1]:${served.port}`,
  ])
    assert.equal((await askFrom(origin)).status, 200, origin)
  const { cookie } = await logIn(served)
  const askFromSite = (site: string) =>
    sendRequest(served, '/api/v1/status', { headers: { cookie, 'sec-fetch-site': site } })
  assert.deepEqual(
    {
      sameSite: (await askFromSite('same-site')).status,
      crossSite: (await askFromSite('cross-site')).status,
      sameOrigin: (await askFromSite('same-origin')).status,
    },
    { sameSite: 403, crossSite: 403, sameOrigin: 200 },
  )
})

test('HTTP: a cookie allows reading, and changes only with JSON and the CSRF header', async (t) => {
  const served = await openHttpApp(t)
  const login = await postJson(served, '/api/v1/login', { token: served.token }, {})
  const [set = ''] = login.headers['set-cookie'] ?? []
  assert.match(set, new RegExp(`^tireless-${served.port}=[0-9a-f]{64}; .*HttpOnly`))
  for (const attribute of ['SameSite=Strict', 'Path=/']) assert.ok(set.includes(attribute), attribute)
  assert.ok(!set.includes(served.token))
  const cookie = cookieOf(login)
  assert.equal((await sendRequest(served, '/api/v1/status', { headers: { cookie } })).status, 200)
  const enqueue = (headers: Record<string, string>) =>
    sendRequest(served, '/api/v1/enqueue', { method: 'POST', headers: { cookie, ...headers }, body: '{"prompt":"x"}' })
  assert.equal((await enqueue(JSON_BODY)).status, 403)
  assert.equal((await enqueue({ ...CSRF, 'content-type': 'text/plain' })).status, 415)
  assert.equal((await enqueue({ ...CSRF, 'content-type': 'application/json-patch' })).status, 415)
  assert.equal((await enqueue(CSRF)).status, 415)
  assert.deepEqual(await served.app.run('queue list', {}), { items: [], total: 0 })
  assert.equal((await enqueue({ ...CSRF, ...JSON_BODY })).status, 200)
  const bearer = { method: 'POST', headers: served.bearer, body: '{"prompt":"x"}' }
  assert.equal(
    (await sendRequest(served, '/api/v1/enqueue', bearer)).status,
    415,
    'JSON is required with the token, too',
  )
})

test('HTTP: a wrong login sets no cookie and gives no reason', async (t) => {
  const served = await openHttpApp(t)
  for (const body of [
    {},
    { token: '' },
    { token: `${served.token}0` },
    { code: 'x' },
    { token: 1 },
    { user: 'root' },
  ]) {
    const refused = await postJson(served, '/api/v1/login', body, {})
    assert.deepEqual(
      { status: refused.status, setCookie: refused.headers['set-cookie'] },
      { status: 401, setCookie: undefined },
      JSON.stringify(body),
    )
  }
  assert.equal(
    (await sendRequest(served, '/api/v1/login', { method: 'POST', body: JSON.stringify({ token: served.token }) }))
      .status,
    415,
  )
})

test('HTTP: the login code works once, for ten minutes, and is in the URL fragment only', async (t) => {
  const clock = new FakeClock()
  const served = await openHttpApp(t, { clock })
  const codeIn = (url: string): string => new URLSearchParams(new URL(url).hash.slice(1)).get('code') ?? ''
  assert.equal(new URL(served.login_url).search, '')
  const code = codeIn(served.login_url)
  assert.match(code, /^[0-9a-f]{64}$/)
  const { cookie } = { cookie: cookieOf(await postJson(served, '/api/v1/login', { code }, {})) }
  assert.equal((await sendRequest(served, '/api/v1/status', { headers: { cookie } })).status, 200)
  assert.equal((await postJson(served, '/api/v1/login', { code }, {})).status, 401, 'the code was used')
  const expired = codeIn((await served.app.context.serveHttp()).login_url)
  await clock.advance(10 * 60_000 + 1)
  assert.equal((await postJson(served, '/api/v1/login', { code: expired }, {})).status, 401, 'the code has expired')
  assert.equal(
    (await sendRequest(served, '/api/v1/status', { headers: { cookie } })).status,
    200,
    'a cookie stays valid',
  )
})

test('HTTP: a cookie survives a restart, and is void if its token changes', async (t) => {
  const home = freshFolder(t)
  const first = await openHttpApp(t, { home })
  const value = (await logIn(first)).cookie.split('=')[1]
  await first.app.close()
  const second = await openHttpApp(t, { home })
  const cookie = `tireless-${second.port}=${value}`
  assert.equal((await sendRequest(second, '/api/v1/status', { headers: { cookie } })).status, 200)
  await second.app.close()
  rmSync(join(home, 'token'))
  const third = await openHttpApp(t, { home })
  assert.equal(
    (await sendRequest(third, '/api/v1/status', { headers: { cookie: `tireless-${third.port}=${value}` } })).status,
    401,
  )
})

test('HTTP: every answer has restrictive security headers, also a refusal', async (t) => {
  const served = await openHttpApp(t)
  for (const [path, headers] of [
    ['/', {}],
    ['/healthz', {}],
    ['/api/v1/status', served.bearer],
    ['/api/v1/status', {}],
    ['/nowhere', {}],
    ['/', { host: 'evil.example' }],
  ] as const) {
    const answer = await sendRequest(served, path, { headers })
    const csp = answer.headers['content-security-policy'] ?? ''
    for (const rule of ["default-src 'none'", "frame-ancestors 'none'", "script-src 'self'", "trusted-types 'none'"])
      assert.ok(String(csp).includes(rule), `${path}: ${rule}`)
    assert.doesNotMatch(String(csp), /unsafe|\*|data:/)
    assert.equal(answer.headers['x-content-type-options'], 'nosniff')
    assert.equal(answer.headers['referrer-policy'], 'no-referrer')
    assert.equal(answer.headers['access-control-allow-origin'], undefined)
  }
})

test('HTTP: token and cookie are void at once if the token file is replaced or removed', async (t) => {
  const served = await openHttpApp(t)
  const { cookie } = await logIn(served)
  const statuses = async (bearer: string): Promise<number[]> => [
    (await sendRequest(served, '/api/v1/status', { headers: { authorization: `Bearer ${bearer}` } })).status,
    (await sendRequest(served, '/api/v1/status', { headers: { cookie } })).status,
  ]
  assert.deepEqual(await statuses(served.token), [200, 200])
  const file = (await served.app.context.serveHttp()).token_file
  const other = 'f'.repeat(64)
  writeFileSync(file, `${other}\n`)
  assert.deepEqual(await statuses(served.token), [401, 401])
  assert.deepEqual(await statuses(other), [200, 401])
  rmSync(file)
  assert.deepEqual(await statuses(other), [401, 401])
  writeFileSync(file, 'short\n')
  assert.deepEqual(await statuses('short'), [401, 401])
})

test('HTTP: a live stream ends at once if its token is replaced or removed, and gets nothing more', async (t) => {
  const served = await openHttpApp(t)
  const { cookie } = await logIn(served)
  const sendDelta = (content: string): void =>
    served.app.service('events').sink.delta({
      ...{ kind: 'result', run_id: 'r', session_id: 's', index: 0, tool: 'bash', status: 'ok', content },
    })
  const oldStreams = [await openEventStream(served), await openEventStream({ ...served, bearer: { cookie } as never })]
  sendDelta('FIRST')
  const textOf = ({ messages }: EventStream): string => JSON.stringify(messages)
  await waitUntil(() => oldStreams.every((stream) => textOf(stream).includes('FIRST')))
  const { token_file: file } = await served.app.context.serveHttp()
  const other = 'f'.repeat(64)
  writeFileSync(file, `${other}\n`)
  sendDelta('SECOND')
  await Promise.all(oldStreams.map(({ ended }) => ended))
  for (const stream of oldStreams) assert.doesNotMatch(textOf(stream), /SECOND/)
  const newStream = await openEventStream({ ...served, bearer: { authorization: `Bearer ${other}` } })
  sendDelta('THIRD')
  await waitUntil(() => textOf(newStream).includes('THIRD'))
  // Without any further event the stream must end, too.
  rmSync(file)
  await newStream.ended
})

test('HTTP: wrong tokens are rate-limited; the right one is still accepted', async (t) => {
  const served = await openHttpApp(t)
  const statuses: number[] = []
  for (let n = 0; n < 60; n += 1)
    statuses.push((await sendRequest(served, '/api/v1/status', { headers: { authorization: `Bearer ${n}` } })).status)
  assert.deepEqual({ first: statuses[0], last: statuses.at(-1) }, { first: 401, last: 429 })
  assert.equal((await postJson(served, '/api/v1/login', { token: 'no' }, {})).status, 429)
  assert.equal((await sendRequest(served, '/api/v1/status', { headers: served.bearer })).status, 200)
})

test('the page is served to the network only with start --expose', async (t) => {
  for (const host of ['0.0.0.0', '::', '10.0.0.1']) {
    const app = await openApp(t, { yaml: `server: { host: "${host}", port: 0 }\n` })
    await assert.rejects(
      app.context.serveHttp(),
      /other machines could reach the page.*got .*do this: .*start --expose/,
    )
  }
  const app = await openApp(t, { yaml: 'server: { host: 0.0.0.0, port: 0 }\n' })
  assert.equal((await app.context.serveHttp({ expose: true })).loopback, false)
})
