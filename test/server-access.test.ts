/** Who is let in over HTTP, and who is not: tokens, cookies, codes, names, other sites. */

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

async function loggedIn(to: HttpApp): Promise<{ cookie: string }> {
  return { cookie: cookieOf(await postJson(to, '/api/v1/login', { token: to.token }, {})) }
}

test('HTTP: the token is 256 bits in a file of the owner alone, the same at the next start, and in no log', async (t) => {
  const home = freshFolder(t)
  const first = await openHttpApp(t, { home })
  assert.match(first.token, /^[0-9a-f]{64}$/)
  assert.equal(statSync(join(home, 'token')).mode & 0o777, 0o600)
  assert.ok(!first.url.includes(first.token) && !first.login_url.includes(first.token))
  chmodSync(join(home, 'token'), 0o644)
  first.app.service('log').write('info', 'somebody says it', { token: `it is ${first.token}` })
  await first.app.close()
  const logged = globSync('*', { cwd: join(home, 'logs') }).map((name) =>
    readFileSync(join(home, 'logs', name), 'utf8'),
  )
  assert.match(logged.join(), /somebody says it/)
  assert.ok(!logged.join().includes(first.token))
  const second = await openHttpApp(t, { home })
  assert.equal(second.token, first.token)
  assert.equal(statSync(join(home, 'token')).mode & 0o777, 0o600, 'shut again')
})

test('HTTP: a token that could be guessed is refused', async (t) => {
  const home = freshFolder(t)
  writeFileSync(join(home, 'token'), 'hunter2\n')
  const app = await openApp(t, { home, yaml: 'server: { port: 0 }\n' })
  await assert.rejects(
    app.context.serveHttp(),
    /token is too short.*got 7 characters.*do this: (remove|delete) the file/,
  )
})

test('HTTP: the API and the events need the token, as a header', async (t) => {
  const to = await openHttpApp(t)
  const wrong = to.token.replace(/^./, (first) => (first === '0' ? '1' : '0'))
  for (const path of ['/api/v1/status', '/api/v1/events', '/api/v1/openapi.json', '/api/v1/nothing']) {
    for (const headers of [
      {},
      { authorization: `Bearer ${wrong}` },
      { authorization: to.token },
      { cookie: `tireless-${to.port}=${to.token}` },
    ]) {
      const refused = await sendRequest(to, path, { headers })
      assert.deepEqual([refused.status, refused.code], [401, 'unauthorized'], path)
    }
    assert.equal((await sendRequest(to, `${path}?token=${to.token}`)).status, 401, 'never in a URL')
  }
  assert.equal((await sendRequest(to, '/api/v1/status', { headers: to.bearer })).status, 200)
})

test('HTTP: a page whose name was made to point here gets nothing at all (DNS rebinding)', async (t) => {
  const to = await openHttpApp(t)
  for (const path of ['/', '/healthz', '/metrics', '/api/v1/status', '/api/v1/events'])
    for (const host of [`evil.example:${to.port}`, 'evil.example', `127.0.0.1:${to.port + 1}`, `0.0.0.0:${to.port}`]) {
      const refused = await sendRequest(to, path, { headers: { ...to.bearer, host } })
      assert.deepEqual([refused.status, refused.code], [403, 'forbidden'], `${path} as ${host}`)
    }
  assert.equal((await sendRequest(to, '/healthz', { headers: { host: `localhost:${to.port}` } })).status, 200)
})

test('HTTP: what another site asks for is refused, also from another port of this machine', async (t) => {
  const to = await openHttpApp(t)
  const asking = (origin: string) => sendRequest(to, '/api/v1/status', { headers: { ...to.bearer, origin } })
  for (const origin of [
    'http://evil.example',
    `http://localhost:${to.port + 1}`,
    'null',
    `https://localhost:${to.port}`,
  ])
    assert.equal((await asking(origin)).status, 403, origin)
  for (const origin of [`http://localhost:${to.port}`, `http://127.0.0.1:${to.port}`, `http://[::1]:${to.port}`])
    assert.equal((await asking(origin)).status, 200, origin)
  const { cookie } = await loggedIn(to)
  const fetched = (site: string) => sendRequest(to, '/api/v1/status', { headers: { cookie, 'sec-fetch-site': site } })
  assert.deepEqual(
    [(await fetched('same-site')).status, (await fetched('cross-site')).status, (await fetched('same-origin')).status],
    [403, 403, 200],
  )
})

test('HTTP: a cookie stands for the token, reads, and changes something only with JSON and the header', async (t) => {
  const to = await openHttpApp(t)
  const login = await postJson(to, '/api/v1/login', { token: to.token }, {})
  const [set = ''] = login.headers['set-cookie'] ?? []
  assert.match(set, new RegExp(`^tireless-${to.port}=[0-9a-f]{64}; .*HttpOnly`))
  for (const attribute of ['SameSite=Strict', 'Path=/']) assert.ok(set.includes(attribute), attribute)
  assert.ok(!set.includes(to.token))
  const cookie = cookieOf(login)
  assert.equal((await sendRequest(to, '/api/v1/status', { headers: { cookie } })).status, 200)
  const enqueue = (headers: Record<string, string>) =>
    sendRequest(to, '/api/v1/enqueue', { method: 'POST', headers: { cookie, ...headers }, body: '{"prompt":"x"}' })
  assert.equal((await enqueue(JSON_BODY)).status, 403)
  assert.equal((await enqueue({ ...CSRF, 'content-type': 'text/plain' })).status, 415)
  assert.equal((await enqueue({ ...CSRF, 'content-type': 'application/json-patch' })).status, 415)
  assert.equal((await enqueue(CSRF)).status, 415)
  assert.deepEqual(await to.app.run('queue list', {}), { items: [] })
  assert.equal((await enqueue({ ...CSRF, ...JSON_BODY })).status, 200)
  const bearer = { method: 'POST', headers: to.bearer, body: '{"prompt":"x"}' }
  assert.equal((await sendRequest(to, '/api/v1/enqueue', bearer)).status, 415, 'JSON is asked of everybody')
})

test('HTTP: a login that is wrong sets no cookie and does not say why', async (t) => {
  const to = await openHttpApp(t)
  for (const body of [{}, { token: '' }, { token: `${to.token}0` }, { code: 'x' }, { token: 1 }, { user: 'root' }]) {
    const refused = await postJson(to, '/api/v1/login', body, {})
    assert.deepEqual([refused.status, refused.headers['set-cookie']], [401, undefined], JSON.stringify(body))
  }
  assert.equal(
    (await sendRequest(to, '/api/v1/login', { method: 'POST', body: JSON.stringify({ token: to.token }) })).status,
    415,
  )
})

test('HTTP: the code of the start lets one browser in, once, for ten minutes, from the part of the URL that is sent nobody', async (t) => {
  const clock = new FakeClock()
  const to = await openHttpApp(t, { clock })
  const codeIn = (url: string): string => new URLSearchParams(new URL(url).hash.slice(1)).get('code') ?? ''
  assert.equal(new URL(to.login_url).search, '')
  const code = codeIn(to.login_url)
  assert.match(code, /^[0-9a-f]{64}$/)
  const { cookie } = { cookie: cookieOf(await postJson(to, '/api/v1/login', { code }, {})) }
  assert.equal((await sendRequest(to, '/api/v1/status', { headers: { cookie } })).status, 200)
  assert.equal((await postJson(to, '/api/v1/login', { code }, {})).status, 401, 'used')
  const late = codeIn((await to.app.context.serveHttp()).login_url)
  await clock.advance(10 * 60_000 + 1)
  assert.equal((await postJson(to, '/api/v1/login', { code: late }, {})).status, 401, 'too late')
  assert.equal((await sendRequest(to, '/api/v1/status', { headers: { cookie } })).status, 200, 'who is in stays in')
})

test('HTTP: a cookie outlives a restart, and is void with its token', async (t) => {
  const home = freshFolder(t)
  const first = await openHttpApp(t, { home })
  const value = (await loggedIn(first)).cookie.split('=')[1]
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

test('HTTP: every answer forbids what a page does not need, also a refusal', async (t) => {
  const to = await openHttpApp(t)
  for (const [path, headers] of [
    ['/', {}],
    ['/healthz', {}],
    ['/api/v1/status', to.bearer],
    ['/api/v1/status', {}],
    ['/nowhere', {}],
    ['/', { host: 'evil.example' }],
  ] as const) {
    const answer = await sendRequest(to, path, { headers })
    const csp = answer.headers['content-security-policy'] ?? ''
    for (const rule of ["default-src 'none'", "frame-ancestors 'none'", "script-src 'self'", "trusted-types 'none'"])
      assert.ok(String(csp).includes(rule), `${path}: ${rule}`)
    assert.doesNotMatch(String(csp), /unsafe|\*|data:/)
    assert.equal(answer.headers['x-content-type-options'], 'nosniff')
    assert.equal(answer.headers['referrer-policy'], 'no-referrer')
    assert.equal(answer.headers['access-control-allow-origin'], undefined)
  }
})

test('HTTP: a token whose file was replaced or removed is dead at once, and so is the cookie; the new one holds', async (t) => {
  const to = await openHttpApp(t)
  const { cookie } = await loggedIn(to)
  const statuses = async (bearer: string): Promise<number[]> => [
    (await sendRequest(to, '/api/v1/status', { headers: { authorization: `Bearer ${bearer}` } })).status,
    (await sendRequest(to, '/api/v1/status', { headers: { cookie } })).status,
  ]
  assert.deepEqual(await statuses(to.token), [200, 200])
  const file = (await to.app.context.serveHttp()).token_file
  const other = 'f'.repeat(64)
  writeFileSync(file, `${other}\n`)
  assert.deepEqual(await statuses(to.token), [401, 401])
  assert.deepEqual(await statuses(other), [200, 401])
  rmSync(file)
  assert.deepEqual(await statuses(other), [401, 401])
  writeFileSync(file, 'short\n')
  assert.deepEqual(await statuses('short'), [401, 401])
})

test('HTTP: a live stream ends at once when the token that it was opened with is replaced or removed, and hears nothing more', async (t) => {
  const to = await openHttpApp(t)
  const { cookie } = await loggedIn(to)
  const say = (content: string): void =>
    to.app.service('events').sink.delta({
      ...{ kind: 'result', run_id: 'r', session_id: 's', index: 0, tool: 'bash', status: 'ok', content },
    })
  const old = [await openEventStream(to), await openEventStream({ ...to, bearer: { cookie } as never })]
  say('FIRST')
  const heard = ({ messages }: EventStream): string => JSON.stringify(messages)
  await waitUntil(() => old.every((stream) => heard(stream).includes('FIRST')))
  const { token_file: file } = await to.app.context.serveHttp()
  const other = 'f'.repeat(64)
  writeFileSync(file, `${other}\n`)
  say('SECOND')
  await Promise.all(old.map(({ ended }) => ended))
  for (const stream of old) assert.doesNotMatch(heard(stream), /SECOND/)
  const fresh = await openEventStream({ ...to, bearer: { authorization: `Bearer ${other}` } })
  say('THIRD')
  await waitUntil(() => heard(fresh).includes('THIRD'))
  // Nothing is said any more: it ends all the same.
  rmSync(file)
  await fresh.ended
})

test('HTTP: whoever guesses tokens is told to wait; whoever has the right one comes in all the same', async (t) => {
  const to = await openHttpApp(t)
  const guessed: number[] = []
  for (let n = 0; n < 60; n += 1)
    guessed.push((await sendRequest(to, '/api/v1/status', { headers: { authorization: `Bearer ${n}` } })).status)
  assert.deepEqual([guessed[0], guessed.at(-1)], [401, 429])
  assert.equal((await postJson(to, '/api/v1/login', { token: 'no' }, {})).status, 429)
  assert.equal((await sendRequest(to, '/api/v1/status', { headers: to.bearer })).status, 200)
})

test('the page is served to the network only where the owner says so at the start', async (t) => {
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
